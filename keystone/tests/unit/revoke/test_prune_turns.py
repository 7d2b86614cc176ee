# SPDX-License-Identifier: Apache-2.0

import fixtures

from keystone.common import cache
from keystone.common import counters
from keystone.revoke import pruning
from keystone.tests.unit.revoke import replica_base


class MemcachedClient:
    """What the clients of memcached have in common, for one key."""

    def __init__(self):
        self.keys = {}

    def add(self, key, value, seconds):
        if key in self.keys:
            return 0
        self.keys[key] = (value, seconds)
        return 1

    def get(self, key):
        return self.keys.get(key)


class DeadMemcachedClient:
    """As python-memcached answers when no server does."""

    def add(self, key, value, seconds):
        return 0

    def get(self, key):
        return None


class FailingMemcachedClient:
    """As other clients do."""

    def add(self, key, value, seconds):
        raise ConnectionRefusedError


class RedisClient:
    def __init__(self):
        self.keys = {}

    def set(self, key, value, nx, ex):
        if nx and key in self.keys:
            return None
        self.keys[key] = (value, ex)
        return True


class Backend:
    def __init__(self, client):
        self.client = self.writer_client = client


class Region:
    """A cache region that is configured with a backend."""

    is_configured = True

    def __init__(self, client):
        self.actual_backend = Backend(client)


class TurnsTests(replica_base.ReplicaTestCase):
    """Which process deletes expired events."""

    def share(self, backend, client):
        self.config(group='cache', enabled=True, backend=backend)
        self.useFixture(
            fixtures.MonkeyPatch(
                'keystone.common.cache.CACHE_INVALIDATION_REGION',
                Region(client),
            )
        )
        return client

    def workers(self):
        return [pruning.AfterRevocation(self.clock) for _ in range(3)]

    def turns(self, workers):
        return [worker.is_due(10) for worker in workers]

    def assertOneOfThree(self, client):
        workers = self.workers()

        self.assertEqual([True, False, False], self.turns(workers))
        self.assertEqual([False, False, False], self.turns(workers))
        self.assertEqual(
            {'keystone.revocation_prune': ('taken', 10)}, client.keys
        )

        # The cache forgets the key by itself.
        client.keys.clear()
        self.clock.tick(10)
        self.assertEqual([True, False, False], self.turns(workers))

    def assertEachForItself(self):
        workers = self.workers()

        self.assertEqual([True, True, True], self.turns(workers))
        self.assertEqual([False, False, False], self.turns(workers))
        self.clock.tick(10)
        self.assertEqual([True, True, True], self.turns(workers))

    def test_memcached(self):
        for backend in ('dogpile.cache.memcached', 'oslo_cache.memcache_pool'):
            client = self.share(backend, MemcachedClient())
            self.assertOneOfThree(client)

    def test_counter_of_a_request(self):
        reports = []
        counters.report_to(reports.append)
        self.addCleanup(counters.report_to, None)
        self.share('dogpile.cache.redis', RedisClient())
        workers = self.workers()

        with counters.counting():
            self.turns(workers)
            # Not due again.
            self.turns(workers)

        self.assertEqual([{('revocation_prune', 'skipped'): 2}], reports)

    def test_redis(self):
        client = self.share('dogpile.cache.redis', RedisClient())
        self.assertOneOfThree(client)

    def test_memcached_is_down(self):
        for client in (DeadMemcachedClient(), FailingMemcachedClient()):
            self.share('dogpile.cache.memcached', client)
            self.assertEachForItself()

    def test_no_cache_is_shared(self):
        self.share('dogpile.cache.memory', None)
        self.assertEachForItself()

    def test_no_cache_at_all(self):
        self.config(group='cache', enabled=False)
        self.assertEachForItself()

    def test_the_cache_is_not_configured(self):
        self.config(group='cache', enabled=True)
        self.useFixture(
            fixtures.MonkeyPatch(
                'keystone.common.cache.CACHE_INVALIDATION_REGION',
                cache.create_region('not configured'),
            )
        )
        self.assertEachForItself()

    def test_an_interval_that_memcached_would_take_for_a_date(self):
        client = self.share('dogpile.cache.memcached', MemcachedClient())

        self.assertTrue(self.workers()[0].is_due(10**9))

        ((_value, seconds),) = client.keys.values()
        self.assertEqual(30 * 24 * 60 * 60, seconds)
