# SPDX-License-Identifier: Apache-2.0

"""What the caches do while their servers fail."""

import socket
import threading
import time

from dogpile.cache import region as dogpile_region
import fixtures

from keystone.common.cache import stores
from keystone.tests import unit
from keystone.tests.unit.cache import base

# Seconds after which servers are asked again.
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
        # The other one cannot know yet.
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
        # The order of both is unknown.
        self.write('new')
        self.now += PAUSE
        self.assertEqual('new', one.read())
        self.assertEqual('new', other.read())

    def test_id_that_was_stored_without_an_answer(self):
        one, other, another = self.process(), self.process(), self.process()
        self.server.answers = False
        one.invalidate()
        self.server.answers = True
        self.assertEqual('old', other.read())
        self.write('new')
        another.invalidate()
        self.now += PAUSE
        # It does not restore the id that both have replaced.
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

    def test_server_was_restarted(self):
        one = self.process()
        one.read()
        self.server.stop()
        self.server.start()
        self.write('new')
        # The value is still there.
        self.assertEqual('old', one.read())

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


class MemcachedTests(_Failures, base.CacheTestCase):
    backend = 'dogpile.cache.memcached'


class PyMemcacheTests(_Failures, base.CacheTestCase):
    backend = 'dogpile.cache.pymemcache'


class MemcachePoolTests(_Failures, base.CacheTestCase):
    backend = 'oslo_cache.memcache_pool'


class ConnectionTests(base.CacheTestCase):
    """Connections that the server closes."""

    def setUp(self):
        super().setUp()
        self.store = stores.of(self.process().region)

    def connect(self, number):
        """Let threads store a value at the same time."""
        threads = [
            threading.Thread(target=self.store.set, args=('key', b'a', 0))
            for _ in range(number)
        ]
        self.server.commands.clear()
        with self.server.lock:
            for thread in threads:
                thread.start()
            while len(self.server.commands) < number:
                time.sleep(0.01)
        for thread in threads:
            thread.join()

    def test_all(self):
        self.connect(3)
        self.server.stop()
        self.server.start()
        for _ in range(3):
            self.assertEqual([b'a'], self.store.get_many(['key']))

    def test_deletion_is_repeated(self):
        self.connect(2)
        self.server.stop()
        self.server.start()
        self.store.delete('key')
        self.assertEqual({}, self.server.items)

    def test_other_writes_are_not(self):
        self.server.answers = False
        for name, *args in (
            ('add', b'a', 0),
            ('set', b'a', 0),
            ('replace', b'a', b'b', 0),
        ):
            self.assertRaises(
                stores.Unavailable, getattr(self.store, name), 'key', *args
            )
            self.now += PAUSE
        self.assertEqual(['add', 'set', 'gets', 'cas'], self.server.commands)


class RedisTests(unit.BaseTestCase):
    def test_server_that_does_not_respond(self):
        """A command is sent once."""
        server = socket.create_server(('127.0.0.1', 0))
        self.addCleanup(server.close)
        region = dogpile_region.make_region().configure(
            'dogpile.cache.redis',
            arguments={
                'host': '127.0.0.1',
                'port': server.getsockname()[1],
                'socket_timeout': 0.1,
            },
        )
        self.assertRaises(
            stores.Unavailable, stores.of(region).set, 'key', b'a', 0
        )
        server.settimeout(0)
        server.accept()[0].close()
        self.assertRaises(BlockingIOError, server.accept)


class ThreadsTests(base.CacheTestCase):
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


class BreakerTests(base.CacheTestCase):
    """Servers that fail are left alone for a while."""

    def setUp(self):
        super().setUp()
        self.calls = 0
        self.breaker = stores.CircuitBreaker(clock=self.clock)

    def fail(self):
        self.calls += 1
        raise OSError('user:password@server')

    def call(self):
        self.assertRaises(stores.Unavailable, self.breaker.call, self.fail)

    def test_answer(self):
        self.assertEqual('abc', self.breaker.call('abc'.strip))

    def test_failure(self):
        for _ in range(3):
            self.call()
        self.assertEqual(1, self.calls)
        self.now += PAUSE
        self.call()
        self.assertEqual(2, self.calls)
        self.now += PAUSE
        self.assertEqual('abc', self.breaker.call('abc'.strip))

    def test_error_is_not_logged_but_for_its_kind(self):
        output = self.useFixture(fixtures.FakeLogger())
        self.call()
        self.assertIn('OSError', output.output)
        self.assertNotIn('password', output.output)
