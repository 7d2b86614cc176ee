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

import threading
import time

import fixtures
from pymemcache import exceptions

from keystone.common import cache
from keystone.common.cache import backend_writes
from keystone.common.cache import health
from keystone.common.cache import region_ids
from keystone.common.cache import stamps
import keystone.conf
from keystone.conf import opts
from keystone.tests.unit.cache_failures import base
from keystone.tests.unit.cache_lifetimes import base as cache_base

CONF = keystone.conf.CONF

# Seconds after which an id may be written again, and servers asked again.
PAUSE = 10


class _Failures:
    """What holds for each client library; a subclass names it."""

    def test_lost_invalidation(self):
        one, other = self.process(), self.process()
        self.assertEqual(['old'] * 2, [one.read(), other.read()])
        self.server.takes = False
        self.write('new')
        one.invalidate()
        self.assertEqual('new', one.read())
        # Nobody can have told the other one.
        self.assertEqual('old', other.read())

        self.server.takes = True
        self.now += PAUSE
        self.assertEqual('new', one.read())
        self.assertEqual('new', other.read())
        self.assertEqual(one.region_id(), other.region_id())

    def test_lost_invalidation_and_a_later_one_of_another_process(self):
        one, other = self.process(), self.process()
        one.read()
        self.server.takes = False
        one.invalidate()
        self.server.takes = True
        other.invalidate()
        self.assertEqual('old', other.read())
        # Which of both was first, nobody can tell.
        self.write('new')
        self.now += PAUSE
        self.assertEqual('new', one.read())
        self.assertEqual('new', other.read())

    def test_value_that_could_not_be_dropped(self):
        one, other = self.process(), self.process()
        one.read()
        self.server.takes = False
        self.write('new')
        one.drop()
        self.assertEqual('new', one.read())
        self.server.takes = True
        self.now += PAUSE
        self.assertEqual('new', one.read())
        self.assertEqual('new', other.read())

    def test_value_that_is_dropped_costs_nobody_else_anything(self):
        one, other = self.process(), self.process()
        before = one.region_id()
        one.read()
        self.write('new')
        one.drop()
        one.drop()
        self.assertEqual('new', other.read())
        self.assertEqual(before, other.region_id())

    def test_server_with_old_contents(self):
        one, other = self.process(), self.process()
        one.read()
        old = dict(self.server.items)
        self.write('new')
        one.invalidate()
        self.assertEqual('new', other.read())

        self.server.items = old
        self.now += PAUSE
        self.assertEqual('new', other.read())
        # One that has seen nothing is told by the new id.
        self.assertEqual('new', self.process().read())
        self.assertEqual('new', one.read())

    def test_old_id_is_not_used_either_where_it_cannot_be_replaced(self):
        one = self.process()
        one.read()
        old = dict(self.server.items)
        self.write('new')
        one.invalidate()
        self.server.items = old
        self.server.takes = False
        # Also before the next attempt to write is due.
        self.assertEqual('new', one.read())
        self.now += PAUSE
        self.assertEqual('new', one.read())

    def test_value_under_an_id_of_the_process_alone_is_dropped_for_all(self):
        one, other = self.process(), self.process()
        one.read()
        old = dict(self.server.items)
        one.invalidate()
        # Other processes, which know no better, use the old id.
        self.server.items = dict(old)
        self.assertEqual('old', other.read())
        self.write('new')
        one.drop()
        self.now += PAUSE
        self.assertEqual('new', other.read())

    def test_server_that_has_lost_the_id(self):
        one, other = self.process(), self.process()
        one.read()
        self.server.items.clear()
        self.now += PAUSE
        self.write('new')
        self.assertEqual('new', one.read())
        self.assertEqual(one.region_id(), other.region_id())

    def test_server_is_gone(self):
        one = self.process()
        one.read()
        self.server.stop()
        self.write('new')
        # None of these raises.
        one.invalidate()
        one.drop()
        for _ in range(5):
            self.assertEqual('new', one.read())
            self.now += 0.3

    def test_row_beside_the_ids(self):
        one = self.process()
        one.ids.set('row', [1, 2])
        self.new_request()
        self.assertEqual([1, 2], one.ids.get('row'))
        self.server.takes = False
        one.ids.set('row', [3, 4])
        self.server.stop()
        one.ids.set('row', [5, 6])
        self.new_request()
        self.assertIs(cache.core.cache.NO_VALUE, one.ids.get('row'))

    def test_ids_at_once(self):
        one = self.process()
        keys = [f'<<<region>>>:{self.name}', '<<<region>>>:missing']
        one.begin()
        self.assertEqual(
            [cache.core.cache.NO_VALUE] * 2, one.ids.get_multi(keys)
        )
        region_id = one.region_id()
        one.begin()
        self.assertEqual(region_id, one.ids.get_multi(keys)[0])
        old = dict(self.server.items)
        one.invalidate()
        self.server.items = old
        one.begin()
        self.assertNotEqual(region_id, one.ids.get_multi(keys)[0])

    def test_stamps_while_an_invalidation_is_lost(self):
        one, other = self.process(), self.process()
        before = one.stamps()
        self.assertEqual(before, other.stamps())
        self.server.takes = False
        one.invalidate()
        self.server.takes = True
        # Under an id of its own, nothing that others do would show.
        self.assertIsNone(one.stamps())
        self.assertIsNone(stamps.writes())
        self.assertIsNone(stamps.stand_for(stamps.fetch_all()))
        self.assertEqual(before, other.stamps())
        other.invalidate()
        self.assertIsNone(one.stamps())

        self.now += PAUSE
        after = one.stamps()
        self.assertIsNotNone(after)
        self.assertNotEqual(before, after)
        self.assertEqual(after, other.stamps())
        other.invalidate()
        self.assertNotEqual(after, one.stamps())

    def test_stamps_of_a_server_with_old_ids(self):
        one = self.process()
        before = one.stamps()
        old = dict(self.server.items)
        one.invalidate()
        after = one.stamps()
        self.assertNotEqual(before, after)
        self.server.items = old
        self.assertNotIn(one.stamps(), (before, after))
        self.now += PAUSE
        self.assertNotIn(one.stamps(), (before, after, None))

    def test_stamps_of_a_server_that_is_gone(self):
        one = self.process()
        self.assertIsNotNone(one.stamps())
        self.server.stop()
        for _ in range(3):
            self.assertIsNone(one.stamps())
            self.now += PAUSE

    def test_process_of_stock(self):
        self.config_fixture.config(group='cache', survive_failures=False)
        stock = self.process()
        self.assertIsNone(stock.guard)
        self.config_fixture.config(group='cache', survive_failures=True)
        ours = self.process()
        self.assertEqual(stock.region_id(), ours.region_id())
        for process in (stock, ours, stock, ours):
            before = process.region_id()
            process.invalidate()
            after = stock.region_id()
            self.assertNotEqual(before, after)
            self.assertEqual(after, ours.region_id())
            self.assertIsInstance(after, bytes)

    def test_clock_that_is_ahead(self):
        ahead, right = self.process(), self.process()
        now = time.time()
        with fixtures.MonkeyPatch('time.time', lambda: now + 60):
            ahead.invalidate()
        before = right.region_id()
        self.assertEqual(before, ahead.region_id())
        # Made later, by a clock that shows less.
        right.invalidate()
        after = ahead.region_id()
        self.assertNotEqual(before, after)
        self.assertEqual(right.region_id(), after)


class MemcachedTests(_Failures, base.FailureTestCase):
    backend = 'dogpile.cache.memcached'


class PyMemcacheTests(_Failures, base.FailureTestCase):
    backend = 'dogpile.cache.pymemcache'


class MemcachePoolTests(_Failures, base.FailureTestCase):
    backend = 'oslo_cache.memcache_pool'


class GuardTests(base.FailureTestCase):
    def test_failed_look_up_by_a_dead_client_invalidates_nothing(self):
        # python-memcached forgets a server for a while, in one thread only.
        one, other = self.process(), self.process()
        before = one.region_id()
        dead = fixtures.MonkeyPatch('memcache._Host.connect', lambda host: 0)
        with dead:
            for _ in range(3):
                self.now += PAUSE
                self.assertNotEqual(before, one.region_id())
        self.now += PAUSE
        self.assertEqual(before, other.region_id())
        self.assertEqual(before, one.region_id())

    def test_threads(self):
        one = self.process()
        end = time.monotonic() + 1
        in_force = [0]
        errors = []
        reads = []

        def read():
            while time.monotonic() < end:
                least = in_force[0]
                got = one.read()
                reads.append(got)
                if got < least:
                    errors.append((least, got))

        self.write(0)
        one.invalidate()
        threads = [threading.Thread(target=read) for _ in range(3)]
        for thread in threads:
            thread.start()
        while time.monotonic() < end:
            self.write(self.database['key'] + 1)
            one.invalidate()
            in_force[0] = self.database['key']
            time.sleep(0.01)
        for thread in threads:
            thread.join()
        self.assertEqual([], errors)
        self.assertLess(10, len(reads))

    def test_not_for_the_caches_of_a_process(self):
        for backend in cache_base.IN_PROCESS:
            self.configure(backend)
            process = self.process()
            self.assertIsNone(process.guard)
            self.assertEqual('old', process.read())


class SwitchedOffTests(base.FailureTestCase):
    backend = 'dogpile.cache.pymemcache'

    def test_as_upstream(self):
        self.config_fixture.config(group='cache', survive_failures=False)
        process = self.process()
        process.read()
        self.server.stop()
        self.assertRaises(
            exceptions.MemcacheUnexpectedCloseError, process.invalidate
        )

    def test_without_expiry(self):
        self.config_fixture.config(group='cache', expire_in_backend=False)
        process = self.process()
        process.read()
        self.server.stop()
        process.invalidate()
        self.write('new')
        self.assertEqual('new', process.read())


class SerializedTests(base.FailureTestCase):
    """Backends that take bytes, as that of Redis does."""

    def setUp(self):
        super().setUp()
        self.configure('dogpile.cache.memory_pickle')
        self.useFixture(
            fixtures.MonkeyPatch(
                'keystone.common.cache.region_ids.can_fail',
                lambda region: True,
            )
        )

    def test_old_id(self):
        store = {}
        process = self.process()
        process.guard.proxied.proxied._cache = store
        before = process.region_id()
        old = dict(store)
        process.invalidate()
        after = process.region_id()
        self.assertNotEqual(before, after)
        store.update(old)
        self.now += PAUSE
        self.assertNotIn(process.region_id(), (before, after))

    def test_id_that_cannot_be_read(self):
        process = self.process()
        before = process.region_id()
        store = process.guard.proxied.proxied._cache
        for key in store:
            store[key] = b'broken'
        self.now += PAUSE
        after = process.region_id()
        self.assertNotEqual(before, after)
        self.assertEqual(after, process.region_id())


class HealthTests(base.FailureTestCase):
    def setUp(self):
        super().setUp()
        self.health = health.Health(clock=self.clock)
        self.calls = 0

    def call(self, error=None, took=0):
        self.calls += 1
        self.now += took
        if error:
            raise error
        return 'answer'

    def test_answer(self):
        self.assertEqual('answer', self.health.attempt(self.call))
        self.assertFalse(self.health.is_resting)

    def test_quick_failure(self):
        self.assertIs(health.FAILED, self.health.attempt(self.call, OSError()))
        self.assertTrue(self.health.is_resting)
        self.now += 0.9
        self.assertIs(health.FAILED, self.health.attempt(self.call))
        self.assertEqual(1, self.calls)
        self.now += 0.2
        self.assertEqual('answer', self.health.attempt(self.call))

    def test_slow_failures(self):
        for took, rest in ((0.5, 5), (3, 10)):
            self.health.attempt(self.call, OSError(), took)
            self.now += rest - 0.1
            self.assertTrue(self.health.is_resting)
            self.now += 0.2
            self.assertFalse(self.health.is_resting)

    def test_error_is_not_logged_but_for_its_kind(self):
        logger = self.useFixture(fixtures.FakeLogger())
        self.health.attempt(self.call, ValueError('secret'))
        self.assertIn('ValueError', logger.output)
        self.assertNotIn('secret', logger.output)


class LayerTests(base.FailureTestCase):
    def test_order(self):
        process = self.process()
        names = [
            type(layer).__name__
            for layer in backend_writes.layers(process.region)
        ]
        self.assertEqual(
            ['Proxy', 'Failures', 'TextMemcachedWrites',
             'MemcachedBackend'],
            names,
        )  # fmt: skip
        names = [
            type(layer).__name__
            for layer in backend_writes.layers(process.ids)
        ]
        self.assertEqual(
            ['Together', 'Guard', 'TextMemcachedWrites',
             'MemcachedBackend'],
            names,
        )  # fmt: skip

    def test_listed_for_the_sample(self):
        options = dict(opts.list_opts())['cache']
        self.assertIn('survive_failures', [one.name for one in options])
        self.assertTrue(CONF.cache.survive_failures)
        self.assertTrue(region_ids.can_fail(self.process().region))
