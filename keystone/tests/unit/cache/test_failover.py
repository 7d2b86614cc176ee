# SPDX-License-Identifier: Apache-2.0

"""One of several memcached servers fails: others have its keys."""

import contextlib
import time
import uuid

from dogpile.cache import api
import fixtures

from keystone.common.cache import stores
from keystone.common import memcached_servers
from keystone.tests.unit.cache import base
from keystone.tests.unit.cache import memcached_server


class _Failover:
    """What holds for each client library; a subclass names it.

    A server that is stopped has its contents when it is started again.
    """

    def setUp(self):
        super().setUp()
        others = [memcached_server.MemcachedServer() for _ in range(2)]
        self.servers = [self.server, *map(self.useFixture, others)]
        self.config_fixture.config(
            group='cache',
            memcache_servers=[one.address for one in self.servers],
        )

    def each(self):
        """Each server that may fail, and two processes with a cached value.

        The ids and values of each are on other servers than those before.
        """
        for number in range(3 * len(self.servers)):
            self.name = uuid.uuid4().hex
            self.write('old')
            one, other = self.process(), self.process()
            self.assertEqual(['old'] * 2, [one.read(), other.read()])
            yield self.servers[number % len(self.servers)], one, other

    @contextlib.contextmanager
    def stopped(self, server):
        server.stop()
        yield
        server.start()
        self.now += base.PAUSE

    def bypass(self, process, server):
        """Let a process bypass a server that works for the others."""
        servers = process.manager.ids.store._servers
        servers[server.address].breaker._rests_until = self.now + 1

    def is_cached(self, process):
        """Whether a process does not read the value from the database."""
        self.after_read[:] = [lambda: None]
        process.read()
        return bool(self.after_read)

    def test_values_are_still_cached(self):
        for failing, one, other in self.each():
            with self.stopped(failing):
                one.read()
                self.assertTrue(self.is_cached(one))
                other.read()
                self.assertTrue(self.is_cached(other))

    def test_change_meanwhile(self):
        for failing, one, other in self.each():
            for change in (one.drop, one.invalidate):
                self.write('old')
                one.invalidate()
                with self.stopped(failing):
                    self.assertEqual(['old'] * 2, [one.read(), other.read()])
                    self.write('new')
                    change()
                    self.assertEqual(['new'] * 2, [one.read(), other.read()])
                self.assertEqual(['new'] * 2, [other.read(), one.read()])

    def test_value_from_an_earlier_failure(self):
        for failing, one, other in self.each():
            with self.stopped(failing):
                self.assertEqual(['old'] * 2, [one.read(), other.read()])
            one.read()
            self.write('new')
            one.drop()
            self.assertEqual('new', other.read())
            with self.stopped(failing):
                self.assertEqual(['new'] * 2, [one.read(), other.read()])

    def test_another_process_bypasses_a_server(self):
        for failing, one, other in self.each():
            self.bypass(other, failing)
            for number, change in enumerate((one.drop, one.invalidate)):
                other.read()
                self.write(number)
                change()
                self.assertEqual([number] * 2, [other.read(), one.read()])
            self.now += base.PAUSE
            self.assertEqual([number] * 2, [one.read(), other.read()])

    def test_process_that_bypasses_a_server_makes_a_change(self):
        for failing, one, other in self.each():
            self.bypass(one, failing)
            one.read()
            self.write('new')
            one.drop()
            self.assertEqual('new', one.read())
            # The other one may not know yet, but will with its next request.
            self.now += base.PAUSE
            self.assertEqual(['new'] * 2, [one.read(), other.read()])

    def test_id_of_a_part(self):
        for failing, one, other in self.each():
            for process in (one, other):
                process.begin()
                process.manager.ids.read('part', 60)
            self.bypass(other, failing)
            other.begin()
            before = other.manager.ids.read('part', 60)
            one.begin()
            self.assertTrue(one.manager.ids.delete_parts('part'))
            other.begin()
            self.assertNotEqual(before, other.manager.ids.read('part', 60))
            # Whether others still have the old one is unknown.
            other.begin()
            self.assertFalse(other.manager.ids.delete_parts('part'))
            self.now += base.PAUSE

    def test_bypass_that_ends_during_a_change(self):
        for failing, one, other in self.each():
            ids = one.manager.ids
            other.begin()
            part = other.manager.ids.read('part', 60)
            self.assertEqual(other.read(), one.read())
            self.bypass(one, failing)
            self.write('new')
            with self.ending(ids.store):
                one.drop()
            self.assertEqual(['new'] * 2, [other.read(), one.read()])
            self.bypass(one, failing)
            one.begin()
            with self.ending(ids.store):
                is_deleted = ids.delete_parts('part')
            other.begin()
            after = other.manager.ids.read('part', 60)
            self.assertTrue(after != part or not is_deleted)

    @contextlib.contextmanager
    def ending(self, store):
        """Let a bypass end after the first command."""
        run = memcached_servers.Server.run

        def run_and_wait(server, *args):
            try:
                return run(server, *args)
            finally:
                self.now += base.PAUSE

        with fixtures.MockPatchObject(
            memcached_servers.Server, 'run', run_and_wait
        ):
            yield

    def test_servers_are_those_of_the_client(self):
        for failing in self.servers:
            store = stores.of(self.process().region)
            client = store._backend.client
            client.retry_attempts = 0  # pymemcache's, otherwise seconds later
            with self.stopped(failing):
                for number in range(30):
                    self.store_with_client(store._backend, str(number))
                keys = list(map(str, range(30)))
                self.assertNotIn(None, store.get_many(keys))

    def store_with_client(self, backend, key):
        """Store a value, in spite of a server that fails at first."""
        value = api.CachedValue(key, {'ct': 0, 'v': 0})
        end = time.monotonic() + 30
        while time.monotonic() < end:
            with contextlib.suppress(OSError):
                return backend.set(key, value)
        self.fail('not stored')

    def test_all_servers_fail(self):
        for _, one, _ in self.each():
            with contextlib.ExitStack() as stack:
                for server in self.servers:
                    stack.enter_context(self.stopped(server))
                self.write('new')
                one.drop()
                self.assertEqual('new', one.read())


class MemcachedTests(_Failover, base.CacheTestCase):
    pass


class PyMemcacheTests(_Failover, base.CacheTestCase):
    backend = 'dogpile.cache.pymemcache'


class MemcachePoolTests(_Failover, base.CacheTestCase):
    backend = 'oslo_cache.memcache_pool'
