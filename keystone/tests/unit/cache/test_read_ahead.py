# SPDX-License-Identifier: Apache-2.0

"""Values that are read together, because requests before have read them."""

import contextlib
import http.client
import time
import types

import fixtures

from keystone.api._shared import reading_ahead
from keystone.common import cache
from keystone.common.cache import facts
from keystone.common.cache import stores
from keystone.tests.unit.cache import base
from keystone.tests.unit.credential import test_cached
from keystone.tests.unit.ksfixtures import shared_cache


class ReadAheadTests(base.CacheTestCase):
    """What is at hand, and that it is what would have been read."""

    def setUp(self):
        super().setUp()
        self.other = self.process()
        self.one = self.process()
        # Those of the process that reads ahead.
        self.patch(cache, 'CACHE_INVALIDATION_REGION', self.one.ids)
        self.ahead = reading_ahead.ReadAhead(most=3)
        self.asked = []
        self.fails = False
        get_many = stores.MemcachedStore.get_many

        def note(store, keys):
            if self.fails:
                self.fails = False
                raise stores.Unavailable()
            self.asked.append(len(keys))
            return get_many(store, keys)

        self.useFixture(
            fixtures.MockPatchObject(stores.MemcachedStore, 'get_many', note)
        )

    @contextlib.contextmanager
    def request(self, about='it'):
        """A request that reads ahead, by the process ``one``."""
        self.one.begin()
        del self.asked[:]
        with self.ahead.reading(about):
            yield

    def read(self, *keys, about='it'):
        with self.request(about):
            return [self.one.memoized(key) for key in keys or ('key',)]

    def warm(self):
        for _ in range(2):
            self.read('key', 'other')

    def test_in_one_round_trip(self):
        self.warm()
        self.assertEqual(['old', 'other'], self.read('key', 'other'))
        # Two values, and the id of their region.
        self.assertEqual([3], self.asked)

    def test_another_thing(self):
        self.warm()
        self.read('key', 'other', about='something else')
        self.assertEqual([1, 1, 1], self.asked)

    def test_more_than_the_last_time(self):
        self.read()
        self.assertEqual(['old', 'other'], self.read('key', 'other'))
        self.read('key', 'other')
        self.assertEqual([3], self.asked)

    def test_less_than_the_last_time(self):
        self.warm()
        self.read()
        self.assertEqual([3], self.asked)
        self.read()
        self.assertEqual([2], self.asked)

    def test_value_that_was_changed(self):
        self.warm()
        self.write('new')
        self.other.drop()
        self.assertEqual(['new', 'other'], self.read('key', 'other'))

    def test_region_that_was_invalidated(self):
        self.warm()
        self.write('new')
        self.other.invalidate()
        self.assertEqual(['new', 'other'], self.read('key', 'other'))
        self.read('key', 'other')
        self.assertEqual([3], self.asked)

    def test_change_by_the_request_itself(self):
        self.warm()
        with self.request():
            self.write('new')
            self.one.memoized.invalidate('key')
            self.assertEqual('new', self.one.memoized('key'))

    def test_region_that_the_request_itself_invalidates(self):
        self.warm()
        with self.request():
            self.write('new')
            self.one.region.invalidate()
            self.assertEqual('new', self.one.memoized('key'))

    def test_change_by_another_process_meanwhile(self):
        self.warm()
        with self.request():
            self.write('new')
            self.in_thread(self.other.drop)
            # As if it had been read before the change, and never stored.
            self.assertEqual('old', self.one.memoized('key'))
        self.assertEqual(['new'], self.read())
        self.assertEqual('new', self.other.read())

    def test_request_that_takes_long(self):
        """As a login whose password is checked meanwhile."""
        self.warm()
        with self.request():
            self.write('new')
            self.in_thread(self.other.drop)
            clock = types.SimpleNamespace(
                time=time.time, monotonic=lambda: time.monotonic() + 2
            )
            self.patch(facts, 'time', clock)
            self.assertEqual(['new', 'other'], self.values('key', 'other'))

    def values(self, *keys):
        return [self.one.memoized(key) for key in keys]

    def test_value_that_is_missing(self):
        self.warm()
        self.server.items.clear()
        self.write('new')
        self.assertEqual(['new', 'other'], self.read('key', 'other'))
        self.database.clear()
        self.assertEqual(['new', 'other'], self.read('key', 'other'))

    def test_values_are_at_hand_in_the_block_alone(self):
        self.warm()
        with self.request():
            pass
        self.write('new')
        self.in_thread(self.other.drop)
        self.assertEqual('new', self.one.memoized('key'))

    def test_what_others_read_together_is_not_read_twice(self):
        self.warm()
        with self.request():
            self.one.memoized('key')
        with self.request():
            self.one.memoized('key')
            self.one.begin()
            place = self.one.region.key_mangler(
                self.one.region.function_key_generator(
                    None, self.one.memoized.original
                )('other')
            )
            store = stores.of(self.one.region)
            facts.offer({place: store.get_many([place])[0]})
            self.one.memoized('other')
        self.read()
        self.assertEqual([2], self.asked)

    def test_server_that_fails(self):
        self.warm()
        self.fails = True
        self.assertEqual(['old', 'other'], self.read('key', 'other'))

    def test_request_that_fails(self):
        for _ in range(2):
            with contextlib.suppress(KeyError):
                with self.request():
                    self.one.memoized('key')
                    raise KeyError
        self.assertEqual([1, 1], self.asked)
        self.assertEqual(0, len(self.ahead._keys))

    def test_cache_of_this_process_alone(self):
        self.configure('dogpile.cache.memory')
        self.one = self.process()
        self.warm()
        self.assertEqual(0, len(self.ahead._keys))

    def test_most(self):
        for about in 'abcd':
            self.read(about=about)
        self.assertEqual(3, len(self.ahead._keys))
        self.read(about='a')
        self.assertEqual([1, 1], self.asked)


class SignedRequestTests(test_cached.DroppedTests):
    """What refuses a signed request does so at once."""

    def setUp(self):
        super().setUp()
        self.useFixture(shared_cache.SharedCache(self.config_fixture))
        self.ahead = reading_ahead.ReadAhead()
        self.useFixture(
            fixtures.MockPatchObject(reading_ahead, 'READ_AHEAD', self.ahead)
        )
        self.caller = self.get_scoped_token()
        for _ in range(2):
            self.ask()
        # The token, and the key.
        self.assertEqual(2, len(self.ahead._keys))

    def test_same_answer(self):
        answers = [self.ask().result['token'] for _ in range(2)]
        self.useFixture(
            fixtures.MockPatchObject(
                reading_ahead, 'READ_AHEAD', reading_ahead.ReadAhead()
            )
        )
        answers.append(self.ask().result['token'])

        for one in answers:
            for name in ('audit_ids', 'issued_at', 'expires_at'):
                self.assertTrue(one.pop(name))
        self.assertEqual([answers[0]] * 3, answers)

    def test_wrong_form(self):
        for body, status in (
            ([], http.client.BAD_REQUEST),
            ({'credentials': 'x'}, http.client.UNAUTHORIZED),
            ({'credential': {'secret': 'x'}}, http.client.UNAUTHORIZED),
        ):
            self.elsewhere(
                self.post,
                '/s3tokens',
                body=body,
                token=self.caller,
                expected_status=status,
            )
