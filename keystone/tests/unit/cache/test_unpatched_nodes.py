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

from keystone.common import cache
from keystone.common.cache import stamps
import keystone.conf
from keystone.tests.unit.cache import base

CONF = keystone.conf.CONF


class UnpatchedNodesTestCase(base.CacheTestCase):
    def setUp(self):
        super().setUp()
        self.default = self.make_in_memory('shared default')
        self.set_option(True)

    def set_option(self, value):
        self.config_fixture.config(group='cache_stamps', unpatched_nodes=value)

    def make_in_memory(self, name, backend='dogpile.cache.memory'):
        shared = CONF.cache.backend
        self.config_fixture.config(group='cache', backend=backend)
        try:
            return self.make_region(name)
        finally:
            self.config_fixture.config(group='cache', backend=shared)

    def ids_elsewhere(self, *regions):
        """The ids of regions, as another process knows them."""
        return [self.elsewhere(self.id_of, region) for region in regions]


class DroppedTests(UnpatchedNodesTestCase):
    """What unpatched nodes rely on is dropped with what they do not know."""

    def drops(self, region, other):
        """Whether another region goes when one is invalidated."""
        before = self.ids_elsewhere(region, other)
        region.invalidate()
        after = self.ids_elsewhere(region, other)
        self.assertNotEqual(before[0], after[0])
        return before[1] != after[1]

    def test_revocation_drops_tokens(self):
        self.assertTrue(self.drops(self.revocations, self.tokens))

    def test_revocation_drops_tokens_with_ids_read_one_by_one(self):
        self.config_fixture.config(group='cache_stamps', together=False)

        self.assertTrue(self.drops(self.revocations, self.tokens))

    def test_revocation_drops_tokens_whatever_becomes_of_its_own_id(self):
        manager = self.revocations.region_invalidator._region_manager
        before = self.ids_elsewhere(self.tokens)

        def fail():
            raise RuntimeError

        manager._manager.invalidate_region = fail
        self.assertRaises(RuntimeError, self.revocations.invalidate)

        self.assertNotEqual(before, self.ids_elsewhere(self.tokens))

    def test_region_of_this_patch_set_drops_the_default_one(self):
        self.assertTrue(self.drops(self.region, self.default))

    def test_regions_of_upstream_drop_nothing_else(self):
        self.assertFalse(self.drops(self.tokens, self.default))
        self.assertFalse(self.drops(self.default, self.tokens))
        self.assertFalse(self.drops(self.revocations, self.default))

    def test_single_value_drops_no_region(self):
        before = self.ids_elsewhere(self.default, self.tokens)

        self.default.delete('key')

        self.assertEqual(before, self.ids_elsewhere(self.default, self.tokens))

    def test_nothing_else_is_dropped_without_them(self):
        self.set_option(False)

        self.assertFalse(self.drops(self.revocations, self.tokens))
        self.assertFalse(self.drops(self.region, self.default))


class KeptTests(UnpatchedNodesTestCase):
    """Nothing is kept that they would not drop."""

    def test_stamps_tell_nothing(self):
        self.assertIsNone(stamps.read())
        self.assertIsNone(stamps.writes())
        self.set_option(False)
        self.begin()
        self.assertIsNotNone(stamps.read())
        self.assertIsNotNone(stamps.writes())

    def keeps(self, name):
        region = self.make_in_memory(name)
        region.set('key', 'value')
        self.assertEqual(
            ['made'], region.get_or_create_multi(['other'], lambda _: ['made'])
        )
        self.begin()
        return region.get('key') == 'value'

    def test_regions_that_they_do_not_know(self):
        for name in ('credentials', 'identity providers', 'of another patch'):
            self.assertFalse(self.keeps(name), name)
        for name in ('revoke', 'receipts', 'computed assignments'):
            self.assertTrue(self.keeps(name), name)

    def test_memoized_in_a_region_that_they_do_not_know(self):
        for backend in ('dogpile.cache.memory', 'dogpile.cache.memory_pickle'):
            for name, times in (('credentials', 3), ('receipts', 1)):
                region = self.make_in_memory(name, backend)
                self.begin()
                self.assertEqual(times, self.times_asked(region), backend)

    def times_asked(self, region):
        asked = []

        @cache.get_memoization_decorator('cache', region=region)
        def answer(question):
            asked.append(question)
            return [question]

        for _ in range(2):
            self.assertEqual(['a'], answer('a'))
        answer.set(['a'], 'a')
        self.assertEqual(['a'], answer('a'))
        answer.invalidate('b')
        return len(asked)
