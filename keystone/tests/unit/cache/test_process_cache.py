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

from dogpile.cache import api
from dogpile.cache.backends import memory
import fixtures

from keystone.common import cache
from keystone.common.cache import process_cache
from keystone.common.cache import stamps
from keystone.tests.unit.cache import base


class ProcessCacheTestCase(base.CacheTestCase):
    def setUp(self):
        super().setUp()
        self.now = 0.0
        self.use_copies()

    def use_copies(self):
        copies = process_cache.copies.Copies(clock=lambda: self.now)
        self.useFixture(
            fixtures.MockPatchObject(process_cache, '_copies', copies)
        )

    def elsewhere(self, function, *args):
        """Call a function as another process does, which has no copies."""
        ours = process_cache._copies
        process_cache._copies = process_cache.copies.Copies()
        try:
            return super().elsewhere(function, *args)
        finally:
            process_cache._copies = ours

    def put(self, value='value', region=None):
        """Put a value into the shared cache, and read it once."""
        region = region or self.region
        self.elsewhere(region.set, 'key', value)
        self.begin()
        self.assertEqual(value, region.get('key'))
        self.begin()

    def change_unseen(self, value, region=None):
        """Change the shared cache, and tell nobody."""
        backend = (region or self.region).actual_backend
        for key, cached in backend._cache.items():
            backend._cache[key] = cached._replace(payload=value)

    def assertCopied(self, value='value', region=None):
        """The shared cache is not asked."""
        self.change_unseen('from the shared cache', region)
        self.begin()
        self.assertEqual(value, (region or self.region).get('key'))

    def assertNotCopied(self, region=None):
        self.change_unseen('from the shared cache', region)
        self.begin()
        self.assertEqual(
            'from the shared cache', (region or self.region).get('key')
        )


class WhenCopiedTests(ProcessCacheTestCase):
    """What a later request finds in its process."""

    def test_value_that_was_read(self):
        self.put()
        self.assertCopied()
        self.assertCopied()

    def test_value_that_was_only_written(self):
        # The server may not have taken it.
        self.region.set('key', 'value')
        self.assertNotCopied()

    def test_what_is_not_there(self):
        self.assertIs(api.NO_VALUE, self.region.get('key'))
        self.elsewhere(self.tokens.set, 'key', 'value')
        self.begin()
        self.assertIs(api.NO_VALUE, self.tokens.get('other key'))
        self.assertEqual('value', self.tokens.get('key'))

    def test_switch(self):
        self.config_fixture.config(group='process_cache', enabled=False)
        self.put()
        self.assertNotCopied()

    def test_no_stamps(self):
        self.config_fixture.config(group='cache_stamps', together=False)
        self.put()
        self.assertNotCopied()

    def test_unpatched_nodes(self):
        # They tell nobody that they have deleted a single value.
        self.config_fixture.config(group='cache_stamps', unpatched_nodes=True)
        self.put()
        self.assertNotCopied()

    def test_cache_of_this_process_alone(self):
        self.config_fixture.config(
            group='cache', backend='dogpile.cache.memory'
        )
        self.put()
        self.assertNotCopied()

    def test_no_request(self):
        self.put()
        self.leave()
        self.change_unseen('new')
        self.assertEqual('new', self.region.get('key'))

    def test_server_of_the_stamps_fails(self):
        self.put()

        def fail(backend, keys):
            raise ConnectionError

        self.begin()
        with fixtures.MockPatchObject(memory.MemoryBackend, 'get_multi', fail):
            self.assertRaises(ConnectionError, self.region.get, 'key')

    def test_server_that_lost_everything(self):
        self.put()
        self.server.clear()
        self.begin()
        self.assertIs(api.NO_VALUE, self.region.get('key'))

    def test_max_age(self):
        self.put()
        self.now = 9.9
        self.assertCopied()
        self.now = 10
        self.assertNotCopied()

    def test_age_of_the_value_goes_on(self):
        memoize = cache.get_memoization_decorator('role', region=self.region)
        self.config_fixture.config(group='role', cache_time=100)
        answers = iter(('first', 'second', 'third'))

        @memoize
        def answer():
            return next(answers)

        self.assertEqual('first', answer())
        self.begin()
        self.assertEqual('first', answer())
        backend = self.region.actual_backend
        for key, cached in backend._cache.items():
            metadata = {**cached.metadata, 'ct': cached.metadata['ct'] - 99}
            backend._cache[key] = cached._replace(metadata=metadata)
        process_cache.clear()
        self.begin()
        self.assertEqual('first', answer())

        # The copy is new, and its value is not.
        later = time.time() + 2
        self.useFixture(
            fixtures.MockPatch('dogpile.lock.time.time', lambda: later)
        )
        self.begin()
        self.assertEqual('second', answer())


class InvalidatedTests(ProcessCacheTestCase):
    """What was invalidated is not found in any process."""

    def setUp(self):
        super().setUp()
        self.put()

    def test_by_another_process(self):
        self.elsewhere(self.region.delete, 'key')
        self.begin()
        self.assertIs(api.NO_VALUE, self.region.get('key'))

    def test_several_by_another_process(self):
        self.elsewhere(self.region.delete_multi, ['key', 'other'])
        self.begin()
        self.assertIs(api.NO_VALUE, self.region.get('key'))

    def test_replaced_by_another_process(self):
        self.elsewhere(self.region.set, 'key', 'new')
        self.begin()
        self.assertEqual('new', self.region.get('key'))

    def test_several_replaced_by_another_process(self):
        self.elsewhere(self.region.set_multi, {'key': 'new'})
        self.begin()
        self.assertEqual('new', self.region.get('key'))

    def test_region_by_another_process(self):
        self.elsewhere(self.region.invalidate)
        self.begin()
        self.assertIs(api.NO_VALUE, self.region.get('key'))

    def test_by_this_request(self):
        self.begin()
        self.assertEqual('value', self.region.get('key'))
        self.region.delete('key')
        self.assertIs(api.NO_VALUE, self.region.get('key'))
        self.region.set('key', 'new')
        self.assertEqual('new', self.region.get('key'))

    def test_by_another_thread_of_this_process(self):
        self.in_thread(self.region.delete, 'key')
        self.begin()
        self.assertIs(api.NO_VALUE, self.region.get('key'))

    def test_request_that_goes_on(self):
        self.begin()
        stamps.read()
        self.elsewhere(self.region.delete, 'key')
        # It began before: either is right, and the next one sees it.
        self.assertEqual('value', self.region.get('key'))
        self.begin()
        self.assertIs(api.NO_VALUE, self.region.get('key'))

    def test_unpatched_node_within_the_bound(self):
        backend = self.region.actual_backend
        backend._cache.clear()
        self.begin()
        self.assertEqual('value', self.region.get('key'))
        self.now += 10
        self.begin()
        self.assertIs(api.NO_VALUE, self.region.get('key'))

    def test_token_takes_no_copies_along(self):
        self.elsewhere(self.tokens.set, 'token', 'value')
        self.elsewhere(self.tokens.delete, 'token')
        self.assertCopied()

    def test_revocation_takes_no_copies_along(self):
        self.elsewhere(self.revocations.invalidate)
        self.assertCopied()


class RaceTests(ProcessCacheTestCase):
    """Deletions while a value is read, and reads while one is deleted."""

    def hold(self, method, then):
        """Do something between an operation of the server and its answer."""
        original = getattr(memory.MemoryBackend, method)
        what = [then]

        def held(backend, *args):
            answer = original(backend, *args)
            if backend is self.region.actual_backend and what:
                what.pop()()
            return answer

        self.useFixture(
            fixtures.MockPatchObject(memory.MemoryBackend, method, held)
        )

    def test_deleted_by_another_process_while_it_is_read(self):
        self.elsewhere(self.region.set, 'key', 'value')
        self.begin()
        self.hold('get', lambda: self.elsewhere(self.region.delete, 'key'))
        self.assertEqual('value', self.region.get('key'))

        self.begin()
        self.assertIs(api.NO_VALUE, self.region.get('key'))

    def test_deleted_by_another_thread_while_it_is_read(self):
        self.elsewhere(self.region.set, 'key', 'value')
        self.begin()
        self.hold('get', lambda: self.in_thread(self.region.delete, 'key'))
        self.assertEqual('value', self.region.get('key'))

        self.begin()
        self.assertIs(api.NO_VALUE, self.region.get('key'))

    def test_read_while_it_is_deleted(self):
        self.put()
        read = []

        def look():
            self.begin()
            read.append(self.region.get('key'))

        # After the value is gone, before everybody knows.
        self.hold('delete', lambda: self.in_thread(look))
        self.in_thread(self.region.delete, 'key')

        self.assertEqual(['value'], read)
        self.begin()
        self.assertIs(api.NO_VALUE, self.region.get('key'))

    def test_read_by_a_request_that_has_old_stamps(self):
        self.elsewhere(self.region.set, 'key', 'value')
        self.begin()
        stamps.read()

        self.elsewhere(self.region.set, 'key', 'new')
        self.assertEqual('new', self.region.get('key'))
        self.elsewhere(self.region.delete, 'key')

        self.begin()
        self.assertIs(api.NO_VALUE, self.region.get('key'))


class IsolationTests(ProcessCacheTestCase):
    """Nobody can change what others find."""

    def test_value_that_is_changed(self):
        self.put(['a', {'b': ['c']}])
        for _ in range(3):
            self.begin()
            value = self.region.get('key')
            self.assertEqual(['a', {'b': ['c']}], value)
            value[1]['b'].append('d')
            value.clear()

    def test_copy_is_bytes(self):
        self.put({'a': 'b'})
        entries = process_cache._copies._entries.values()
        self.assertEqual([bytes], [type(entry.value) for entry in entries])


class SerializedTests(ProcessCacheTestCase):
    """Backends that take bytes are read through the same proxies."""

    def setUp(self):
        super().setUp()
        self.config_fixture.config(
            group='cache', backend='dogpile.cache.memory_pickle'
        )
        self.region = self.make_region('serialized')
        self.config_fixture.config(
            group='cache', backend='dogpile.cache.redis'
        )
        self.begin()
        stamps.read()
        self.trips = self.useFixture(base.RoundTrips())

    def trips_of_values(self):
        """Calls, without those for the ids of the regions."""
        ids = set(self.server)
        return [
            name
            for name, keys in self.trips.calls
            if ids.isdisjoint([keys] if isinstance(keys, str) else keys)
        ]

    def test_once_for_a_request(self):
        self.config_fixture.config(group='process_cache', enabled=False)
        self.elsewhere(self.region.set, 'key', {'a': ['b']})
        self.begin()
        del self.trips.calls[:]
        for _ in range(3):
            value = self.region.get('key')
            self.assertEqual({'a': ['b']}, value)
            value['a'].append('c')
        self.assertEqual(['get'], self.trips_of_values())

    def test_once_for_a_process(self):
        self.elsewhere(self.region.set, 'key', {'a': ['b']})
        del self.trips.calls[:]
        for _ in range(3):
            self.begin()
            self.assertEqual({'a': ['b']}, self.region.get('key'))
        self.assertEqual(['get'], self.trips_of_values())

    def test_request_finds_what_it_has_written(self):
        self.region.set('key', 'value')
        self.region.set_multi({'other key': 'other value'})
        self.assertEqual('value', self.region.get('key'))
        self.assertEqual('other value', self.region.get('other key'))
        self.assertEqual(['set', 'set_multi'], self.trips_of_values())

    def test_deleted(self):
        for delete in (
            lambda: self.region.delete('key'),
            lambda: self.region.delete_multi(['key']),
            lambda: self.elsewhere(self.region.delete, 'key'),
            lambda: self.elsewhere(self.region.delete_multi, ['key']),
        ):
            self.elsewhere(self.region.set, 'key', 'value')
            self.begin()
            self.assertEqual('value', self.region.get('key'))
            delete()
            self.begin()
            self.assertIs(api.NO_VALUE, self.region.get('key'))

    def test_replaced(self):
        for replace in (
            lambda: self.region.set('key', 'new'),
            lambda: self.region.set_multi({'key': 'new'}),
            lambda: self.elsewhere(self.region.set, 'key', 'new'),
        ):
            self.elsewhere(self.region.set, 'key', 'value')
            self.begin()
            self.assertEqual('value', self.region.get('key'))
            replace()
            self.begin()
            self.assertEqual('new', self.region.get('key'))
