# SPDX-License-Identifier: Apache-2.0

from keystone.common import local_store
from keystone.tests import unit
from keystone.tests.unit.common import test_after_fork


class LocalStoreTests(unit.BaseTestCase):
    def setUp(self):
        super().setUp()
        self.now = 1000.0
        self.seconds = 10
        self.store = local_store.LocalStore(
            2, lambda: self.seconds, lambda: self.now
        )

    def test_value(self):
        self.assertIsNone(self.store.get('a'))
        self.assertEqual('none', self.store.get('a', 'none'))
        self.store.put('a', 1)
        self.assertEqual(1, self.store.get('a'))
        self.assertEqual(1, len(self.store))

    def test_number_of_values(self):
        for store in (self.store, local_store.LocalStore(2)):
            store.put('a', 1)
            store.put('b', 2)
            store.get('a')
            store.put('c', 3)
            self.assertEqual(
                [1, None, 3], [store.get(key) for key in ('a', 'b', 'c')]
            )

    def test_lifetime(self):
        self.store.put('a', 1)
        self.seconds = 5
        self.store.put('b', 2)

        self.now += 5
        self.assertEqual([1, None], [self.store.get(key) for key in 'ab'])
        self.assertEqual(1, len(self.store))
        self.now += 5
        self.assertIsNone(self.store.get('a'))

    def test_no_lifetime(self):
        store = local_store.LocalStore(2, clock=lambda: self.now)
        store.put('a', 1)
        self.now += 10**9
        self.assertEqual(1, store.get('a'))

    def test_setdefault(self):
        self.assertEqual(1, self.store.setdefault('a', 1))
        self.assertEqual(1, self.store.setdefault('a', 2))
        self.now += 10
        self.assertEqual(2, self.store.setdefault('a', 2))

    def test_forked_process(self):
        self.store.put('a', 1)
        with self.store._lock:
            size = test_after_fork.in_forked_process(lambda: len(self.store))
        self.assertEqual('0', size)
        self.assertEqual(1, self.store.get('a'))
