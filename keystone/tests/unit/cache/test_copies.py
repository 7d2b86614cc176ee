# Licensed under the Apache License, Version 2.0 (the "License"); you may
# not use this file except in compliance with the License. You may obtain
# a copy of the License at
#
#      http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the
# License for the specific language governing permissions and limitations
# under the License.

import os
import threading

from keystone.common.cache import copies
from keystone.tests import unit

_PLENTY = 1024 * 1024


class CopiesTests(unit.BaseTestCase):
    """What is kept in the process, and how much of it."""

    def setUp(self):
        super().setUp()
        self.now = 0.0
        self.copies = copies.Copies(clock=lambda: self.now)

    def put(self, key, value=b'value', stamp=b'a', **limits):
        limits = {
            'max_age': 10,
            'max_entries': 100,
            'max_bytes': _PLENTY,
            **limits,
        }
        self.copies.put(key, value, stamp, **limits)

    def get(self, key, stamp=b'a', max_age=10):
        return self.copies.get(key, stamp, max_age)

    def test_what_was_put(self):
        self.assertIsNone(self.get('key'))
        self.put('key')
        self.assertEqual(b'value', self.get('key'))

    def test_another_stamp(self):
        self.put('key')
        self.assertIsNone(self.get('key', stamp=b'b'))
        self.assertEqual(b'value', self.get('key'))

    def test_age(self):
        self.put('key')
        self.now = 9.9
        self.assertEqual(b'value', self.get('key'))
        self.now = 10
        self.assertIsNone(self.get('key'))

    def test_age_that_was_lowered(self):
        self.put('key')
        self.now = 5
        self.assertIsNone(self.get('key', max_age=5))

    def test_clock_that_went_back(self):
        self.now = 5
        self.put('key')
        self.now = 4
        self.assertIsNone(self.get('key'))

    def test_aged_copies_are_freed(self):
        for number in range(5):
            self.now = number
            self.put(str(number))
        self.now = 12
        self.put('new')
        self.assertEqual(3, len(self.copies))

    def test_replaced(self):
        self.put('key')
        before = self.copies.bytes
        self.put('key', value=b'other', stamp=b'b')
        self.assertEqual(b'other', self.get('key', stamp=b'b'))
        self.assertIsNone(self.get('key'))
        self.assertEqual((1, before), (len(self.copies), self.copies.bytes))

    def test_dropped(self):
        self.put('key')
        self.copies.drop('key')
        self.copies.drop('other')
        self.assertIsNone(self.get('key'))
        self.assertEqual((0, 0), (len(self.copies), self.copies.bytes))

    def test_cleared(self):
        self.put('key')
        self.copies.clear()
        self.assertEqual((0, 0), (len(self.copies), self.copies.bytes))

    def test_entries(self):
        for number in range(20):
            self.put(str(number), max_entries=5)
        self.assertEqual(5, len(self.copies))
        self.assertIsNone(self.get('14'))
        self.assertEqual(b'value', self.get('15'))

    def test_bytes(self):
        bound = 10 * (copies.OVERHEAD + 100)
        for number in range(50):
            self.put(str(number), value=bytes(100), max_bytes=bound)
            self.assertLessEqual(self.copies.bytes, bound)
        self.assertEqual(9, len(self.copies))

    def test_value_that_is_too_large(self):
        self.put('key')
        self.put('key', value=bytes(_PLENTY // 4))
        self.assertIsNone(self.get('key'))
        self.assertEqual(0, self.copies.bytes)

    def test_threads(self):
        wrong = []

        def work(name):
            for number in range(500):
                key = str(number % 40)
                value = f'{key} {name}'.encode()
                self.put(key, value, max_entries=30, max_bytes=20_000)
                found = self.get(key)
                if found is not None and found.split()[0] != key.encode():
                    wrong.append(found)
                self.copies.drop(str((number + 7) % 40))

        threads = [threading.Thread(target=work, args=(i,)) for i in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

        self.assertEqual([], wrong)
        self.assertLessEqual(len(self.copies), 30)
        for number in range(40):
            self.copies.drop(str(number))
        self.assertEqual((0, 0), (len(self.copies), self.copies.bytes))

    def test_fork(self):
        self.put('key')
        with self.copies._lock:
            child = os.fork()
            if child == 0:
                good = len(self.copies) == 0 and self.copies.bytes == 0
                good = good and self.copies._lock.acquire(timeout=1)
                os._exit(0 if good else 1)
        _pid, status = os.waitpid(child, 0)
        self.assertEqual(0, status)
        self.assertEqual(b'value', self.get('key'))
