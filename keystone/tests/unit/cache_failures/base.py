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

import uuid

import fixtures

from keystone.common import cache
from keystone.common.cache import copies
from keystone.common.cache import current_stamps
from keystone.common.cache import health
from keystone.common.cache import id_history
from keystone.common.cache import process_cache
from keystone.common.cache import region_ids
from keystone.common.cache import request_local
from keystone.common.cache import stamps
from keystone.tests.unit.cache_lifetimes import base


class Process:
    """The caches of one worker process: a region, and the ids of regions.

    What the modules of a process remember is that of the one that was called
    last.

    :param test: the test case that has configured ``[cache]``
    :param name: of the region
    """

    def __init__(self, test, name):
        self.ids = cache.create_region('invalidation region')
        self.region = cache.create_region(name)
        self._test = test
        self._memory = (
            (stamps, '_stamps', {}),
            (stamps, '_compared', []),
            (stamps, '_history', id_history.IdHistory()),
            (current_stamps, '_last', current_stamps._Last()),
            (process_cache, '_copies', copies.Copies()),
        )
        self._take_turn()
        with (
            fixtures.MonkeyPatch(
                'keystone.common.cache.core.CACHE_INVALIDATION_REGION',
                self.ids,
            ),
            fixtures.MonkeyPatch(
                'keystone.common.cache.health.SERVERS',
                health.Health(clock=test.clock),
            ),
        ):
            cache.configure_cache(self.region)
            cache.configure_invalidation_region()
        self.guard = region_ids.guard_of(self.ids)
        if self.guard:
            self.guard._ticks = test.clock

        @cache.get_memoization_decorator('role', region=self.region)
        def memoized(key):
            return self._test.database[key]

        self._memoized = memoized

    def _take_turn(self):
        for module, name, value in self._memory:
            setattr(module, name, value)

    def begin(self):
        """Begin a request."""
        self._take_turn()
        self._test.new_request()

    def read(self, key='key'):
        """What a request gets."""
        self.begin()
        return self._memoized(key)

    def drop(self, key='key'):
        """Drop one value, as a request does."""
        self.begin()
        self._memoized.invalidate(key)

    def invalidate(self):
        """Invalidate all values, as a request does."""
        self.begin()
        self.region.invalidate()

    def region_id(self):
        self.begin()
        return self.region.region_invalidator._region_manager.region_id

    def stamps(self):
        """What the cached values are valid under, for a request."""
        self.begin()
        return stamps.read()


class FailureTestCase(base.CacheTestCase):
    """Processes that share a memcached and a database.

    ``now`` is the time of their clocks, but for those of the client libraries.
    """

    backend = 'dogpile.cache.memcached'

    def setUp(self):
        super().setUp()
        self.now = 0
        self.database = {'key': 'old'}
        self.name = uuid.uuid4().hex
        for module, name in (
            (stamps, '_stamps'),
            (stamps, '_compared'),
            (stamps, '_history'),
            (process_cache, '_copies'),
        ):
            self.addCleanup(setattr, module, name, getattr(module, name))
        self.configure(self.backend, memcache_dead_retry=0)

    def new_request(self):
        """Begin a request on this thread."""
        request_local.begin({})

    def clock(self):
        return self.now

    def process(self):
        return Process(self, self.name)

    def write(self, value):
        """Commit a new value to the database."""
        self.database['key'] = value
