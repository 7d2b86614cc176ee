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

from keystone.common import cache
from keystone.common.cache import after_write
from keystone.common.cache import stamps
from keystone.tests.unit.cache import base


class StampsTests(base.CacheTestCase):
    """What the stamps tell, and when."""

    def test_nothing_has_changed(self):
        before = stamps.read()
        self.begin()
        self.assertEqual(before, stamps.read())
        self.assertEqual(hash(before), hash(stamps.read()))
        self.assertEqual(before, self.elsewhere(stamps.read))
        self.assertEqual({before: 1}, {stamps.read(): 1})
        self.assertNotEqual(before, 'before')

    def assertTold(self, function, *args):
        """The next request of each process sees that something changed."""
        before = self.elsewhere(stamps.read)
        function(*args)
        now = self.elsewhere(stamps.read)
        self.assertNotEqual(before, now)
        self.begin()
        self.assertEqual(now, stamps.read())

    def assertNotTold(self, function, *args):
        before = self.elsewhere(stamps.read)
        function(*args)
        self.assertEqual(before, self.elsewhere(stamps.read))

    def test_region_is_invalidated(self):
        self.assertTold(self.region.invalidate)
        self.assertTold(self.tokens.invalidate)

    def test_single_value_is_deleted(self):
        self.assertTold(self.region.delete, 'key')
        self.assertTold(self.region.delete_multi, ['key'])

    def test_single_value_is_replaced(self):
        self.assertTold(self.region.set, 'key', 'value')
        self.assertTold(self.region.set_multi, {'key': 'value'})

    def test_memoized_value(self):
        memoize = cache.get_memoization_decorator('cache', region=self.region)

        @memoize
        def answer(question):
            return [question]

        self.assertNotTold(answer, 'question')
        self.assertTold(answer.invalidate, 'question')
        self.assertTold(answer.set, 'answer', 'question')
        self.assertTold(answer.refresh, 'question')

    def test_single_token(self):
        self.assertNotTold(self.tokens.set, 'token', 'value')
        self.assertNotTold(self.tokens.delete, 'token')

    def test_revocation_stands_apart(self):
        before = stamps.read()
        self.assertNotTold(self.revocations.invalidate)
        self.assertNotEqual(before.revocation, stamps.read().revocation)
        self.assertEqual(
            self.id_of(self.revocations), stamps.read().revocation
        )

    def test_request_goes_on_with_what_it_has_read(self):
        before = stamps.read()
        ids = [self.id_of(self.region), self.id_of(self.other_region)]

        self.elsewhere(self.other_region.invalidate)

        self.assertEqual(before, stamps.read())
        self.assertEqual(
            ids, [self.id_of(self.region), self.id_of(self.other_region)]
        )
        self.begin()
        self.assertNotEqual(before, stamps.read())
        self.assertEqual(ids[0], self.id_of(self.region))
        self.assertNotEqual(ids[1], self.id_of(self.other_region))

    def test_request_sees_its_own_writes(self):
        before = stamps.read()
        self.region.invalidate()
        self.assertNotEqual(before, stamps.read())
        before = stamps.read()
        self.region.delete('key')
        self.assertNotEqual(before, stamps.read())

    def test_no_request(self):
        self.leave()
        before = stamps.read()
        self.elsewhere(self.region.invalidate)
        self.assertNotEqual(before, stamps.read())

    def test_region_that_is_configured_late(self):
        before = stamps.read()
        late = self.make_region('late')
        self.assertEqual(self.elsewhere(self.id_of, late), self.id_of(late))
        self.begin()
        self.assertNotEqual(before, stamps.read())

    def test_keys_are_those_of_upstream(self):
        manager = cache.RegionInvalidationManager
        self.assertEqual(
            stamps._REVOCATION, manager(None, 'revoke')._region_key
        )
        self.assertTrue(stamps._WRITES.startswith(manager.REGION_KEY_PREFIX))
        stock = manager(cache.CACHE_INVALIDATION_REGION, 'one')
        self.assertEqual(stock.region_id, self.id_of(self.region))

    def test_written_without_a_region(self):
        self.useFixture(fixtures.MockPatchObject(stamps, '_stamps', {}))
        stamps.written()
        self.assertIsNone(stamps.read())


class OrderTests(base.CacheTestCase):
    """When the id of single values changes."""

    def held(self, method):
        """Read the id in the moment after the server has done something."""
        found = []
        original = getattr(memory.MemoryBackend, method)

        def hold(backend, *args):
            original(backend, *args)
            if backend is self.region.actual_backend:
                found.append(self.elsewhere(stamps.writes))

        self.useFixture(
            fixtures.MockPatchObject(memory.MemoryBackend, method, hold)
        )
        return found

    def test_after_the_value_is_gone(self):
        before = self.elsewhere(stamps.writes)
        during = self.held('delete')

        self.region.delete('key')

        self.assertEqual([before], during)
        self.assertNotEqual(before, self.elsewhere(stamps.writes))

    def test_after_the_value_is_replaced(self):
        before = self.elsewhere(stamps.writes)
        during = self.held('set')

        self.region.set('key', 'value')

        self.assertEqual([before], during)
        self.assertNotEqual(before, self.elsewhere(stamps.writes))

    def test_although_the_server_fails(self):
        def fail(backend, key):
            raise ConnectionError

        before = self.elsewhere(stamps.writes)
        self.useFixture(
            fixtures.MockPatchObject(memory.MemoryBackend, 'delete', fail)
        )
        self.assertRaises(ConnectionError, self.region.delete, 'key')
        self.assertNotEqual(before, self.elsewhere(stamps.writes))

    def test_once_for_a_write(self):
        stamps.read()
        seen = []

        @after_write.invalidate_again
        def write():
            for number in range(5):
                self.region.delete(str(number))
            seen.append(self.elsewhere(stamps.writes))

        before = self.elsewhere(stamps.writes)
        trips = self.useFixture(base.RoundTrips())
        write()

        self.assertEqual([before], seen)
        self.assertEqual(1, trips.names.count('set'))
        self.assertNotEqual(before, self.elsewhere(stamps.writes))


class UnreadableTests(base.CacheTestCase):
    """What cannot be read is no stamp."""

    def assertUnreadable(self):
        self.begin()
        self.assertIsNone(stamps.read())
        self.assertIsNone(stamps.writes())

    def replace(self, method, function):
        patch = fixtures.MockPatchObject(
            memory.MemoryBackend, method, function
        )
        patch.setUp()
        return patch.cleanUp

    def test_no_cache(self):
        self.config_fixture.config(group='cache', enabled=False)
        self.assertUnreadable()

    def test_switch(self):
        self.config_fixture.config(group='cache_stamps', together=False)
        self.assertUnreadable()

    def test_server_fails(self):
        def fail(*args):
            raise ConnectionError

        restore = self.replace('get_multi', fail)
        self.assertUnreadable()
        self.assertRaises(ConnectionError, self.id_of, self.region)
        restore()
        # In the same request.
        self.assertIsNotNone(stamps.read())

    def test_server_that_keeps_nothing(self):
        def lose(backend, *args):
            pass

        restore = self.replace('set_multi', lose)
        self.assertUnreadable()
        first = self.id_of(self.region)
        self.assertEqual(first, self.id_of(self.region))
        self.begin()
        self.assertNotEqual(first, self.id_of(self.region))
        restore()
        self.begin()
        self.assertIsNotNone(stamps.read())

    def test_region_that_is_configured_late_and_not_kept(self):
        stamps.read()
        late = self.make_region('late')
        restore = self.replace('set_multi', lambda *args: None)
        self.addCleanup(restore)
        self.id_of(late)
        self.assertIsNone(stamps.read())


class LostWriteTests(base.CacheTestCase):
    """An id that was replaced does not come back."""

    def setUp(self):
        super().setUp()
        self.old = self.id_of(self.region)

    def lose_writes(self, error=None):
        def lose(backend, *args):
            if error:
                raise error

        patch = fixtures.MockPatchObject(memory.MemoryBackend, 'set', lose)
        patch.setUp()
        return patch.cleanUp

    def assertReplaced(self):
        """The next request of this process has mended it for all."""
        self.begin()
        now = self.id_of(self.region)
        self.assertNotEqual(self.old, now)
        self.assertEqual(now, self.elsewhere(self.id_of, self.region))
        self.begin()
        self.assertEqual(now, self.id_of(self.region))
        self.assertIsNotNone(stamps.read())

    def test_server_has_not_taken_the_new_id(self):
        restore = self.lose_writes()
        self.region.invalidate()
        restore()
        self.assertNotEqual(self.old, self.id_of(self.region))
        self.assertEqual(self.old, self.elsewhere(self.id_of, self.region))

        self.assertReplaced()

    def test_server_has_failed(self):
        restore = self.lose_writes(ConnectionError)
        self.assertRaises(ConnectionError, self.region.invalidate)
        restore()

        self.assertReplaced()

    def test_first_thing_that_a_process_does(self):
        def invalidate():
            restore = self.lose_writes()
            self.region.invalidate()
            restore()
            self.assertReplaced()
            return True

        self.begin()
        self.assertTrue(self.elsewhere(invalidate))

    def test_single_value(self):
        before = stamps.writes()
        restore = self.lose_writes()
        self.region.delete('key')
        restore()
        self.assertEqual(before, self.elsewhere(stamps.writes))

        self.begin()
        now = stamps.writes()

        self.assertNotEqual(before, now)
        self.assertEqual(now, self.elsewhere(stamps.writes))

    def test_server_comes_back_with_an_old_id(self):
        kept = dict(self.server)
        self.region.invalidate()
        self.begin()
        self.id_of(self.region)

        self.server.clear()
        self.server.update(kept)

        self.assertReplaced()

    def test_id_that_another_process_has_replaced(self):
        kept = dict(self.server)
        self.elsewhere(self.region.invalidate)
        self.begin()
        self.id_of(self.region)

        self.server.update(kept)

        self.assertReplaced()

    def test_server_keeps_the_old_id_and_takes_none(self):
        kept = dict(self.server)
        self.region.invalidate()
        self.server.update(kept)
        patch = fixtures.MockPatchObject(
            memory.MemoryBackend, 'set_multi', lambda *args: None
        )
        with patch:
            self.begin()
            self.assertNotEqual(self.old, self.id_of(self.region))
            self.assertIsNone(stamps.read())
        self.assertReplaced()


class RaceTests(base.CacheTestCase):
    """Reads and writes that are held open."""

    def hold(self, method, then):
        """Do something between a read and its answer, once."""
        original = getattr(memory.MemoryBackend, method)
        what = [then]

        def held(backend, *args):
            answer = original(backend, *args)
            if what:
                what.pop()()
            return answer

        self.useFixture(
            fixtures.MockPatchObject(memory.MemoryBackend, method, held)
        )

    def test_read_across_an_invalidation_by_another_thread(self):
        old = self.id_of(self.region)
        new = []

        def invalidate():
            self.region.invalidate()
            new.append(self.id_of(self.region))

        self.begin()
        self.hold('get_multi', lambda: self.in_thread(invalidate))
        # The read overlaps: either id is right.
        self.assertEqual(old, self.id_of(self.region))

        # And it is no reason to invalidate again.
        self.begin()
        self.assertEqual(new, [self.id_of(self.region)])

    def test_processes_that_find_no_ids_agree(self):
        self.server.clear()
        theirs = []
        self.begin()
        self.hold('set_multi', lambda: theirs.append(self.elsewhere_first()))
        ours = stamps.read()

        self.assertIsNotNone(ours)
        self.assertEqual(theirs, [ours])

    def elsewhere_first(self):
        """Another process has found none either, and writes later."""
        self.server.clear()
        return self.elsewhere(stamps.read)

    def test_threads(self):
        wrong = []

        def work():
            for _ in range(30):
                self.begin()
                self.region.invalidate()
                mine = self.id_of(self.region)
                self.begin()
                if stamps.read() is None or not self.id_of(self.region):
                    wrong.append(mine)

        threads = [threading.Thread(target=work) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

        self.assertEqual([], wrong)
        self.begin()
        last = self.id_of(self.region)
        self.begin()
        self.assertEqual(last, self.id_of(self.region))
        self.assertEqual(last, self.elsewhere(self.id_of, self.region))
