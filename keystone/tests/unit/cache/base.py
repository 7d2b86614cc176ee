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

from dogpile.cache.backends import memory
import fixtures
from oslo_config import fixture as config_fixture
from oslo_context import context as oslo_context

from keystone.common import cache
from keystone.common.cache import id_history
from keystone.common.cache import request_local
from keystone.common.cache import stamps
import keystone.conf
from keystone.tests import unit

CONF = keystone.conf.CONF

_METHODS = ('get', 'get_multi', 'set', 'set_multi', 'delete', 'delete_multi')


class RoundTrips(fixtures.Fixture):
    """Notes what the backends in memory are asked, as a server would be.

    :ivar calls: list of (name of the method, its first argument)
    """

    def _setUp(self):
        self.calls = []
        for name in _METHODS:
            self._note(name)

    def _note(self, name):
        method = getattr(memory.MemoryBackend, name)

        def note(backend, about, *args):
            about = list(about) if name.endswith('multi') else about
            self.calls.append((name, about))
            return method(backend, about, *args)

        def note_mapping(backend, mapping):
            self.calls.append((name, list(mapping)))
            return method(backend, mapping)

        self.useFixture(
            fixtures.MockPatchObject(
                memory.MemoryBackend,
                name,
                note_mapping if name == 'set_multi' else note,
            )
        )

    @property
    def names(self):
        """Names of the methods, in the order of the calls."""
        return [name for name, _about in self.calls]


class CacheTestCase(unit.BaseTestCase):
    """Regions that stand for those of Keystone, and their ids.

    Their backend is in memory, though Keystone takes it for a shared one.
    """

    def setUp(self):
        super().setUp()
        self.config_fixture = self.useFixture(config_fixture.Config(CONF))
        self.config_fixture.config(
            group='cache', backend='dogpile.cache.memory', enabled=True
        )
        for name, value in (
            ('_stamps', {}),
            ('_compared', []),
            ('_history', id_history.IdHistory()),
        ):
            self.useFixture(fixtures.MockPatchObject(stamps, name, new=value))
        self.make_server()
        cache.configure_invalidation_region()
        self.region = self.make_region('one')
        self.other_region = self.make_region('two')
        self.tokens = self.make_region('tokens')
        self.revocations = self.make_region('revoke')
        self.config_fixture.config(
            group='cache', backend='dogpile.cache.memcached'
        )
        self.begin()

    def make_server(self):
        """Have the region of the ids configured anew, for this test."""
        region = cache.CACHE_INVALIDATION_REGION
        kept = {
            name: vars(region).pop(name)
            for name in ('backend', '_actual_backend')
            if name in vars(region)
        }
        self.addCleanup(vars(region).update, kept)
        self.addCleanup(vars(region).pop, '_actual_backend', None)
        self.addCleanup(vars(region).pop, 'backend', None)

    def make_region(self, name):
        region = cache.create_region(name)
        cache.configure_cache(region)
        return region

    @property
    def server(self):
        """What the server of the ids holds, a dictionary."""
        return cache.CACHE_INVALIDATION_REGION.actual_backend._cache

    def begin(self):
        """Begin another request, on this thread."""
        request_local.begin({})

    def leave(self):
        """Have this thread work on no request."""
        oslo_context.RequestContext(overwrite=True)

    def id_of(self, region):
        """The id of a region, as this request knows it."""
        return region.region_invalidator._region_manager.region_id

    def elsewhere(self, function, *args):
        """Call a function as another process does, in a request."""
        history = stamps._history
        stamps._history = id_history.IdHistory()
        try:
            return self.in_thread(function, *args)
        finally:
            stamps._history = history

    def in_thread(self, function, *args):
        """Call a function in another thread of this process, in a request."""
        answers = []

        def call():
            self.begin()
            answers.append(function(*args))

        thread = threading.Thread(target=call)
        thread.start()
        thread.join()
        return answers[0]
