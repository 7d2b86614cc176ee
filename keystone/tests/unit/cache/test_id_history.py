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

from keystone.common.cache import id_history
from keystone.tests import unit


class IdHistoryTests(unit.BaseTestCase):
    """Which ids are outdated, whatever the order they become known in."""

    def setUp(self):
        super().setUp()
        self.history = id_history.IdHistory()

    def see(self, region_id, began=None):
        if began is None:
            began = self.history.now()
        self.history.seen('key', region_id, began)

    def assertOutdated(self, region_id, began=None):
        self.assertTrue(self.is_outdated(region_id, began))

    def assertGood(self, region_id, began=None):
        self.assertFalse(self.is_outdated(region_id, began))

    def is_outdated(self, region_id, began):
        if began is None:
            began = self.history.now()
        return self.history.is_outdated('key', region_id, began)

    def test_id_that_another_took_the_place_of(self):
        self.see('old')
        self.assertGood('old')
        self.see('new')
        self.assertOutdated('old')
        self.assertGood('new')

    def test_id_of_another_region(self):
        self.see('old')
        self.see('new')
        began = self.history.now()
        self.assertFalse(self.history.is_outdated('other', 'old', began))

    def test_read_that_began_before_the_change_was_known(self):
        self.see('old')
        began = self.history.now()
        self.see('new')

        self.assertGood('old', began)
        self.see('old', began)

        self.assertGood('new')
        self.assertOutdated('old')

    def test_reads_that_overlap_tell_no_order(self):
        first = self.history.now()
        second = self.history.now()
        self.see('one', second)
        self.see('two', first)

        self.assertGood('one')
        self.assertGood('two')

    def test_outdate(self):
        self.assertFalse(self.history.knows('key'))
        self.history.outdate('key')
        self.see('old')
        self.assertTrue(self.history.knows('key'))
        began = self.history.now()

        self.history.outdate('key')

        self.assertGood('old', began)
        self.assertOutdated('old')

    def test_bound(self):
        last = 2 * id_history._REMEMBERED
        for number in range(last + 1):
            self.see(number)

        self.assertGood(last)
        self.assertOutdated(last - 1)
        self.assertOutdated(last - id_history._REMEMBERED)
        self.assertGood(last - id_history._REMEMBERED - 1)

    def test_threads(self):
        server = [0]
        wrong = []
        lock = threading.Lock()

        def work(number):
            for step in range(200):
                began = self.history.now()
                found = server[0]
                if self.history.is_outdated('key', found, began):
                    wrong.append(found)
                self.history.seen('key', found, began)
                with lock:
                    began = self.history.now()
                    server[0] = (number, step)
                self.history.seen('key', (number, step), began)

        threads = [
            threading.Thread(target=work, args=(number,))
            for number in range(4)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

        self.assertEqual([], wrong)

    def test_fork_while_a_thread_holds_the_lock(self):
        with self.history._lock:
            child = os.fork()
            if child == 0:
                free = self.history._lock.acquire(timeout=1)
                os._exit(0 if free else 1)
        _pid, status = os.waitpid(child, 0)
        self.assertEqual(0, status)
