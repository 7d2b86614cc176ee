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

from dogpile.cache import region as dogpile_region
import fixtures

from keystone.common import cache
from keystone.tests.unit.cache import test_process_cache


class QuickLookupTestCase(test_process_cache.ProcessCacheTestCase):
    """A memoized method, and how often its values are made or asked for."""

    def setUp(self):
        super().setUp()
        self.made = []
        self.asked = 0
        self.useFixture(
            fixtures.MockPatchObject(
                dogpile_region.CacheRegion,
                'get_or_create',
                self._counting(dogpile_region.CacheRegion.get_or_create),
            )
        )
        memoize = cache.get_memoization_decorator(
            group='role', region=self.region
        )

        class Manager:
            @memoize
            def get(manager, name, kind='plain'):
                self.made.append((name, kind))
                return {'name': name, 'kind': kind, 'in': []}

            @memoize
            def get_none(manager):
                self.made.append(None)

            @memoize
            def get_any(manager, *names):
                self.made.append(names)
                return names

        self.manager = Manager()

    def _counting(self, method):
        def counting(region, *args, **kwargs):
            self.asked += region is self.region
            return method(region, *args, **kwargs)

        return counting

    def warm(self):
        """Have a later request find the value in its process."""
        value = self.manager.get('a', 'plain')
        for _ in range(2):
            self.begin()
            self.assertEqual(value, self.manager.get('a', 'plain'))
        self.begin()
        self.asked = 0
        del self.made[:]
        return value


class FoundTests(QuickLookupTestCase):
    """What is found without asking dogpile.cache."""

    def test_what_the_process_has(self):
        value = self.warm()

        self.assertEqual(value, self.manager.get('a', 'plain'))
        self.assertEqual((0, []), (self.asked, self.made))

    def test_what_the_request_has(self):
        self.config_fixture.config(group='process_cache', enabled=False)
        value = self.warm()
        self.assertEqual(value, self.manager.get('a', 'plain'))
        self.assertEqual(1, self.asked)

        self.assertEqual(value, self.manager.get('a', 'plain'))

        self.assertEqual((1, []), (self.asked, self.made))

    def test_none(self):
        for _ in range(2):
            self.begin()
            self.assertIsNone(self.manager.get_none())
        self.asked = 0

        self.begin()

        self.assertIsNone(self.manager.get_none())
        self.assertEqual((0, [None]), (self.asked, self.made))

    def test_values_share_nothing(self):
        value = self.warm()
        self.manager.get('a', 'plain')['in'].append('changed')

        self.assertEqual(value, self.manager.get('a', 'plain'))

    def test_arguments_are_told_apart(self):
        self.warm()

        self.assertEqual('b', self.manager.get('b', 'plain')['name'])
        self.assertEqual('odd', self.manager.get('a', 'odd')['kind'])
        self.assertEqual([('b', 'plain'), ('a', 'odd')], self.made)


class NotFoundTests(QuickLookupTestCase):
    """What goes dogpile.cache's way."""

    def test_arguments_that_have_to_be_bound(self):
        value = self.warm()

        self.assertEqual(value, self.manager.get('a'))
        self.assertEqual(value, self.manager.get('a', kind='plain'))
        self.assertEqual(value, self.manager.get(kind='plain', name='a'))

        self.assertEqual((3, []), (self.asked, self.made))

    def test_any_number_of_arguments(self):
        for _ in range(3):
            self.begin()
            self.assertEqual(('a', 'b'), tuple(self.manager.get_any('a', 'b')))

        self.assertEqual((3, [('a', 'b')]), (self.asked, self.made))

    def test_no_request(self):
        self.warm()
        self.leave()

        self.manager.get('a', 'plain')

        self.assertEqual((1, []), (self.asked, self.made))

    def test_value_that_is_too_old(self):
        self.config_fixture.config(group='role', cache_time=5)
        self.warm()
        then = time.time() + 6

        with fixtures.MockPatchObject(time, 'time', lambda: then):
            self.manager.get('a', 'plain')

        self.assertEqual([('a', 'plain')], self.made)

    def test_age_without_a_time_of_the_group(self):
        self.region.expiration_time = 5
        self.warm()
        then = time.time() + 4

        with fixtures.MockPatchObject(time, 'time', lambda: then):
            self.manager.get('a', 'plain')
        self.assertEqual([], self.made)
        with fixtures.MockPatchObject(time, 'time', lambda: then + 2):
            self.manager.get('a', 'plain')

        self.assertEqual([('a', 'plain')], self.made)

    def test_value_dropped_by_this_request(self):
        self.warm()
        self.manager.get('a', 'plain')

        self.manager.get.invalidate(self.manager, 'a', 'plain')
        self.manager.get('a', 'plain')

        self.assertEqual([('a', 'plain')], self.made)

    def test_value_replaced_by_this_request(self):
        self.warm()
        self.manager.get('a', 'plain')

        self.manager.get.set('new', self.manager, 'a', 'plain')

        self.assertEqual('new', self.manager.get('a', 'plain'))

    def test_value_dropped_elsewhere(self):
        self.warm()

        self.elsewhere(self.manager.get.invalidate, self.manager, 'a', 'plain')
        self.begin()
        self.manager.get('a', 'plain')

        self.assertEqual([('a', 'plain')], self.made)

    def test_region_invalidated_elsewhere(self):
        self.warm()

        self.elsewhere(self.region.invalidate)
        self.begin()
        self.manager.get('a', 'plain')

        self.assertEqual([('a', 'plain')], self.made)

    def test_region_invalidated_by_this_request(self):
        self.warm()
        self.manager.get('a', 'plain')

        self.region.invalidate()
        self.manager.get('a', 'plain')

        self.assertEqual([('a', 'plain')], self.made)

    def test_cache_that_was_switched_off(self):
        self.config_fixture.config(group='role', caching=False)

        for _ in range(2):
            self.begin()
            self.manager.get('a', 'plain')

        self.assertEqual(2, len(self.made))

    def test_bytes_of_a_serializer(self):
        value = self.warm()

        with (
            fixtures.MockPatchObject(self.region, 'deserializer', bytes),
            fixtures.MockPatchObject(
                self.region, 'get_or_create', lambda *_: 'asked for'
            ),
        ):
            self.assertEqual('asked for', self.manager.get('a', 'plain'))

        self.assertEqual(value, self.manager.get('a', 'plain'))


class DecoratedTests(QuickLookupTestCase):
    """What callers use of a memoized method besides calling it."""

    def test_its_own_attributes(self):
        get = type(self.manager).get

        for name in ('get', 'set', 'invalidate', 'refresh', 'original'):
            self.assertTrue(callable(getattr(get, name)), name)
        self.assertEqual('get', get.__name__)

    def test_decorator_has_its_conditions(self):
        memoize = cache.get_memoization_decorator(group='role')

        self.config_fixture.config(group='role', cache_time=7)

        self.assertTrue(memoize.should_cache(None))
        self.assertEqual(7, memoize.get_expiration_time())


class IdsTests(QuickLookupTestCase):
    """The ids of the regions, with which a request begins."""

    def test_ids_are_those_of_the_server(self):
        first = self.id_of(self.region)
        self.begin()
        self.assertEqual(first, self.id_of(self.region))

        self.elsewhere(self.region.invalidate)
        self.begin()

        second = self.id_of(self.region)
        self.assertNotEqual(first, second)
        self.assertEqual(second, self.elsewhere(self.id_of, self.region))

    def test_requests_share_none(self):
        self.begin()
        first = self.id_of(self.region)
        other = self.elsewhere(self.id_of, self.other_region)

        self.region.invalidate()

        self.assertNotEqual(first, self.id_of(self.region))
        self.assertEqual(
            self.id_of(self.region), self.elsewhere(self.id_of, self.region)
        )
        self.assertEqual(other, self.id_of(self.other_region))
