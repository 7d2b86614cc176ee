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

from oslo_config import fixture as config_fixture
from oslo_context import context as oslo_context

from keystone.common import cache
import keystone.conf
from keystone.tests import unit
from keystone.tests.unit.cache_lifetimes import memcached_server

CONF = keystone.conf.CONF

# Client libraries that the tests have a server for.
MEMCACHED = (
    'dogpile.cache.memcached',
    'dogpile.cache.pymemcache',
    'oslo_cache.memcache_pool',
)

IN_PROCESS = (
    'dogpile.cache.memory',
    'dogpile.cache.memory_pickle',
    'oslo_cache.dict',
)


class CacheTestCase(unit.BaseTestCase):
    """Regions of their own, configured as Keystone configures its own."""

    def setUp(self):
        super().setUp()
        self.config_fixture = self.useFixture(config_fixture.Config(CONF))
        self.server = self.useFixture(memcached_server.MemcachedServer())
        # The invalidation region is one for all, and configured once.
        self._take_apart(cache.CACHE_INVALIDATION_REGION)
        self.addCleanup(self._take_apart, cache.CACHE_INVALIDATION_REGION)
        self.new_request()

    def _take_apart(self, region):
        vars(region).pop('backend', None)

    def new_request(self):
        """Forget what a request has cached for itself."""
        oslo_context.RequestContext(overwrite=True)

    def configure(self, backend, **options):
        """Set the options of ``[cache]``."""
        self.config_fixture.config(
            group='cache',
            enabled=True,
            backend=backend,
            memcache_servers=[self.server.address],
            **options,
        )

    def region(self):
        """Make a region, and the one that holds its id, if it is not there.

        Each region is one of another worker process, as far as the caches of
        a process are concerned.
        """
        region = cache.create_region(uuid.uuid4().hex)
        cache.configure_cache(region)
        cache.configure_invalidation_region()
        return region
