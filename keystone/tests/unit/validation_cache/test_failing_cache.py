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

import time

from dogpile.cache import proxy
import fixtures

from keystone.common import cache
from keystone.common.cache import backend_writes
from keystone.common.cache import current_stamps
from keystone.common.cache import health
from keystone.common.cache import region_ids
from keystone.common.cache import stamps
from keystone.common import provider_api
from keystone.tests.unit.cache_failures import base as failures
from keystone.tests.unit.validation_cache import base

PROVIDERS = provider_api.ProviderAPIs

# Seconds after which an id may be written again, and servers asked again.
PAUSE = 10


class _CurrentStamps:
    """What the stamps tell before a request; a subclass names a client."""

    def setUp(self):
        super().setUp()
        self.useFixture(
            fixtures.MockPatchObject(
                current_stamps, '_last', current_stamps._Last()
            )
        )
        # Only the first one looks here.
        self.one, self.other = self.process(), self.process()
        self.before = self.look()

    def look(self):
        self.one.begin()
        return current_stamps.read()

    def lose_invalidation(self):
        self.server.takes = False
        self.one.invalidate()
        self.server.takes = True

    def test_nothing_has_changed(self):
        self.assertIsNotNone(self.before)
        self.look()
        self.assertIs(self.look(), self.look())
        self.assertEqual(self.before, self.look())

    def test_invalidation_that_is_lost(self):
        self.lose_invalidation()
        self.assertIsNone(self.look())
        self.assertIsNone(self.look())
        # It would not show under an id of the first one's own.
        self.other.invalidate()
        self.assertIsNone(self.look())

        self.now += PAUSE
        after = self.look()
        self.assertIsNotNone(after)
        self.assertNotEqual(self.before, after)
        self.assertEqual(after, self.look())
        self.other.invalidate()
        self.assertNotEqual(after, self.look())

    def test_invalidation_that_is_lost_during_a_look(self):
        self.other.invalidate()
        take = stamps.take

        def take_then_lose(*args):
            ids = take(*args)
            if losses:
                losses.pop()()
            return ids

        losses = [self.lose_invalidation]
        self.useFixture(
            fixtures.MockPatchObject(stamps, 'take', take_then_lose)
        )
        self.assertNotEqual(self.before, self.look())
        self.assertIsNone(self.look())

    def test_server_with_old_ids(self):
        old = dict(self.server.items)
        self.one.invalidate()
        after = self.look()
        self.server.items = old
        self.assertNotIn(self.look(), (self.before, after))
        self.now += PAUSE
        self.assertNotIn(self.look(), (self.before, after, None))

    def test_server_is_gone(self):
        self.server.stop()
        for _ in range(3):
            self.assertIsNone(self.look())
            self.now += PAUSE


class MemcachedTests(_CurrentStamps, failures.FailureTestCase):
    backend = 'dogpile.cache.memcached'


class PyMemcacheTests(_CurrentStamps, failures.FailureTestCase):
    backend = 'dogpile.cache.pymemcache'


class _Server(proxy.ProxyBackend):
    """Takes writes, and says so, or neither.

    :ivar takes: bool
    """

    takes = True

    def set(self, key, value):
        if self.takes:
            self.proxied.set(key, value)
        return self.takes


class LostInvalidationTests(base.ValidationCacheTestCase):
    """Answers while the server of the ids takes no new one."""

    def setUp(self):
        super().setUp()
        region = cache.CACHE_INVALIDATION_REGION
        # An upstream test may have left it without any proxy.
        *outer, backend = backend_writes.layers(region)
        holder = (outer[-1], 'proxied') if outer else (region, 'backend')
        self.addCleanup(setattr, *holder, backend)
        self.server = _Server()
        guard = region_ids.Guard(
            region, health.Health(), ticks=lambda: self.now
        )
        self.now = time.monotonic()
        backend_writes.insert(region, self.server, backend)
        backend_writes.insert(region, guard, self.server)
        current_stamps._guard_of.cache_clear()
        self.addCleanup(current_stamps._guard_of.cache_clear)
        self.ask()
        self.ask()
        self.assertHit()

    def test_user_that_is_disabled(self):
        self.server.takes = False
        PROVIDERS.identity_api.update_user(self.user_id, {'enabled': False})
        self.assertNoHit(status=401)
        self.server.takes = True
        self.assertNoHit(status=401)
        self.now += PAUSE
        self.assertNoHit(status=401)

    def test_user_that_is_renamed(self):
        self.server.takes = False
        PROVIDERS.identity_api.update_user(self.user_id, {'name': 'renamed'})
        for _ in range(2):
            with self.counted(bypass__stamps=1):
                answer = self.ask()
            self.assertIn(b'"renamed"', answer[2])
        self.server.takes = True
        self.now += PAUSE
        self.assertIn(b'"renamed"', self.assertNoHit()[2])
        self.ask()
        self.assertIn(b'"renamed"', self.assertHit()[2])
