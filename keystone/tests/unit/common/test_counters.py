# SPDX-License-Identifier: Apache-2.0

import threading

from keystone.common.cache import counters
from keystone.tests import unit


class CountersTests(unit.BaseTestCase):
    """What is counted between the start and the end of a request."""

    def setUp(self):
        super().setUp()
        self.addCleanup(counters.end)

    def test_a_request(self):
        counters.begin()
        counters.count('one', 'lookups')
        counters.count('one', 'lookups', 2)
        counters.count('two', 'lookups')
        counters.measure('one', 'bytes', 5)
        counters.measure('one', 'bytes', 4)

        self.assertTrue(counters.is_counting())
        self.assertEqual(
            {
                ('one', 'lookups'): 3,
                ('two', 'lookups'): 1,
                ('one', 'bytes'): 4,
            },
            counters.end(),
        )

    def test_no_request(self):
        counters.count('one', 'lookups')
        counters.measure('one', 'bytes', 5)

        self.assertFalse(counters.is_counting())
        self.assertEqual({}, counters.end())

    def test_another_thread(self):
        counters.begin()
        thread = threading.Thread(
            target=counters.count, args=('one', 'lookups')
        )
        thread.start()
        thread.join()

        self.assertEqual({}, counters.end())
