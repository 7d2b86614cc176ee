# SPDX-License-Identifier: Apache-2.0

"""Ids of cache regions, compared as real servers hold them."""

import time

from patchset.tests.integration import base
from patchset.tests.integration import cache_servers
from patchset.tests.integration import test_cache_lifetimes


class _Stored(base.ServerMixin):
    """What holds for each kind of server; a subclass names it."""

    def of_each_backend(self, but=()):
        """Two workers with each backend that knows the kind of server."""
        for backend in self.kind.backends:
            if backend in but:
                continue
            self.server.flush()
            workers = [
                self.worker(
                    backend,
                    {**self.server.options(), 'memcache_socket_timeout': 0.5},
                )
                for _ in range(2)
            ]
            for worker in workers:
                worker.ask('write', backend)
                worker.ask('read', 'role')
            yield workers

    def assertStored(self, worker):
        """Wait until all ids can be read; the number for them."""
        end = time.monotonic() + 30
        while (number := worker.ask('stored')) is None:
            self.assertLess(time.monotonic(), end)
            worker.ask('read', 'role')
            time.sleep(0.1)
        return number

    def test_same_until_invalidated(self):
        for one, other in self.of_each_backend():
            before = self.assertStored(one)
            for _ in range(3):
                self.assertEqual(before, one.ask('stored'))
            other.ask('invalidate')
            after = one.ask('stored')
            self.assertNotIn(after, (before, None))
            self.assertEqual(after, one.ask('stored'))

    def test_server_that_was_emptied(self):
        for one, _ in self.of_each_backend():
            before = self.assertStored(one)
            self.server.flush()
            self.assertIsNone(one.ask('stored'))
            self.assertNotEqual(before, self.assertStored(one))

    def test_server_that_was_killed(self):
        for one, _ in self.of_each_backend():
            before = self.assertStored(one)
            self.server.kill()
            self.assertIsNone(one.ask('stored'))
            self.server.start_again()
            self.assertNotEqual(before, self.assertStored(one))

    def test_server_that_hangs(self):
        # dogpile.cache gives pymemcache no time limit: it waits for ever.
        for one, other in self.of_each_backend({'dogpile.cache.pymemcache'}):
            before = self.assertStored(one)
            with self.server.paused():
                self.assertIsNone(one.ask('stored'))
            other.ask('invalidate')
            # The late answer is to no question that is still asked.
            self.assertNotEqual(before, self.assertStored(one))


class MemcachedStoredTests(_Stored, test_cache_lifetimes.LifetimeTestCase):
    kind = cache_servers.Memcached

    def test_two_servers(self):
        second = self.enterContext(self.kind())
        for backend in self.kind.backends:
            one, other = (
                self.worker(
                    backend,
                    {
                        'memcache_dead_retry': 1,
                        'memcache_servers': [
                            self.server.address,
                            second.address,
                        ],
                    },
                )
                for _ in range(2)
            )
            one.ask('read', 'role')
            before = self.assertStored(one)
            self.assertEqual(before, one.ask('stored'))
            other.ask('invalidate')
            self.assertNotIn(one.ask('stored'), (before, None))


class RedisStoredTests(_Stored, test_cache_lifetimes.LifetimeTestCase):
    kind = cache_servers.Redis
