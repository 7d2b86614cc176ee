# SPDX-License-Identifier: Apache-2.0

"""Worker processes that share a cache server and a database."""

import socket
import threading
import uuid

import fixtures
from oslo_config import fixture as config_fixture

from keystone.common import cache
from keystone.common.cache import request_local
from keystone.common.cache import stores
from keystone.common import counters
import keystone.conf
from keystone.tests import unit
from keystone.tests.unit.cache import memcached_server

CONF = keystone.conf.CONF

IN_PROCESS = (
    'dogpile.cache.memory',
    'dogpile.cache.memory_pickle',
    'oslo_cache.dict',
)

# Seconds after which servers are asked again.
PAUSE = 10


class StatsdServer(fixtures.Fixture):
    """A server that the counters are sent to; its ``socket`` gets them.

    :param config: the fixture of the configuration
    """

    def __init__(self, config):
        super().__init__()
        self._config = config

    def _setUp(self):
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.addCleanup(self.socket.close)
        self.socket.bind(('127.0.0.1', 0))
        self.socket.settimeout(10)
        host, port = self.socket.getsockname()
        self._config.config(
            group='cache_counters', statsd_host=host, statsd_port=port
        )
        self.addCleanup(counters.report_to, None)


class Process:
    """The caches of one worker process: a region, and the ids of regions.

    :param test: the test case that has configured ``[cache]``
    :param name: of the region
    """

    def __init__(self, test, name):
        self._test = test
        self.region = cache.create_region(name)
        self.ids = cache.create_region('invalidation region')
        test.patch(cache.core, 'CACHE_INVALIDATION_REGION', self.ids)
        cache.configure_cache(self.region)
        cache.configure_invalidation_region()
        self.manager = self.region.region_invalidator._region_manager
        for region in (self.region, self.ids):
            test.set_clock(stores.of(region))

        @cache.get_memoization_decorator('role', region=self.region)
        def memoized(key):
            value = test.database[key]
            if test.after_read:
                test.after_read.pop()()
            return value

        self.memoized = memoized

    def begin(self):
        """Begin a request."""
        request_local.begin({})

    def read(self, key='key'):
        """What a request gets."""
        self.begin()
        return self.memoized(key)

    def drop(self, key='key'):
        """Drop one value, as a request does."""
        self.begin()
        self.memoized.invalidate(key)

    def invalidate(self):
        """Invalidate all values, as a request does."""
        self.begin()
        self.region.invalidate()

    def region_id(self):
        self.begin()
        return self.manager.region_id


class CacheTestCase(unit.BaseTestCase):
    """Processes that share a memcached and a database.

    ``now`` is the time of their clocks, but for those of the client libraries;
    ``after_read`` has what happens when the next value was read from the
    database, before it is cached.
    """

    backend = 'dogpile.cache.memcached'

    def setUp(self):
        super().setUp()
        self.config_fixture = self.useFixture(config_fixture.Config(CONF))
        self.server = self.useFixture(memcached_server.MemcachedServer())
        self.now = 0
        self.database = {'key': 'old', 'other': 'other'}
        self.after_read = []
        self.name = uuid.uuid4().hex
        self.configure(self.backend, memcache_dead_retry=0)
        request_local.begin({})

    def configure(self, backend, **options):
        """Set the options of ``[cache]``."""
        self.config_fixture.config(
            group='cache',
            enabled=True,
            backend=backend,
            memcache_servers=[self.server.address],
            **options,
        )

    def patch(self, module, name, value):
        """Set an attribute until the test ends."""
        self.addCleanup(setattr, module, name, getattr(module, name))
        setattr(module, name, value)

    def clock(self):
        return self.now

    def set_clock(self, store):
        """Let a store, and what leaves its servers alone, use ``now``."""
        if isinstance(store, stores.MemcachedStore):
            # A busy machine is no failure of the server.
            store._backend.socket_timeout = 30
            store._reset()
            for server in store._servers.values():
                server.breaker._clock = self.clock
                server.breaker._rests_until = self.now
        elif isinstance(store, stores.ProcessStore):
            store._clock = self.clock
            store._next_sweep = self.now

    def process(self):
        return Process(self, self.name)

    def write(self, value):
        """Commit a new value to the database."""
        self.database['key'] = value

    def in_thread(self, function, *args):
        """Call a function in another thread, in a request of its own."""
        answers = []

        def call():
            request_local.begin({})
            answers.append(function(*args))

        thread = threading.Thread(target=call)
        thread.start()
        thread.join()
        return answers[0]
