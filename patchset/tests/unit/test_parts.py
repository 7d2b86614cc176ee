# SPDX-License-Identifier: Apache-2.0

"""What the parts of ./ks test choose to run."""

import importlib
import importlib.metadata
import pathlib
import re

import fixtures
import testtools

from patchset import dependencies
from patchset import pins
from patchset import series
from patchset import upstream
from patchset.commands import test
from patchset.test_parts import areas
from patchset.test_parts import proof
from patchset.test_parts import quick
from patchset.test_parts import smoke
from patchset.test_parts import stestr
from patchset.test_parts import tempest
from patchset.test_parts import unit


class PartsTestCase(testtools.TestCase):
    def setUp(self):
        super().setUp()
        self.folder = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        self.pin = pins.load(pins.newest())

    def test_each_part_has_a_module_that_says_what_it_is(self):
        for part in test.PARTS:
            module = importlib.import_module(f'patchset.test_parts.{part}')
            self.assertTrue(callable(module.run), part)
            self.assertThat(
                module.__doc__.splitlines()[0],
                testtools.matchers.MatchesRegex(r'[A-Z].*\.$'),
            )

    def test_smoke_asks_older_releases_for_no_more_than_they_have(self):
        for release, there in (('2026.1', False), ('2026.2', True)):
            stock = upstream.ensure(pins.load(release))
            self.assertEqual(
                {'revcache': {'user_tokens_revocation': there}},
                smoke.promises(stock),
            )

    def test_unit_runs_the_modules_that_stock_has_not(self):
        for tree, names in {
            'ours': ('test_old.py', 'a/test_new.py', 'a/helper.py'),
            'stock': ('test_old.py',),
        }.items():
            for name in names:
                path = self.folder / tree / unit.FOLDER / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.touch()
        self.assertEqual(
            {'keystone.tests.unit.a.test_new'},
            unit.added(self.folder / 'ours', self.folder / 'stock'),
        )

    def test_what_quick_names_is_in_each_release(self):
        for release in pins.releases():
            topics = {topic.name: topic for topic in series.load(release)}
            for name in quick.TOPICS:
                self.assertNotEqual([], proof.tests(topics[name]), name)
        test = 'revcache_tempest_plugin.tests.api.test_tokens.T.test_a'
        self.assertRegex(test, stestr.both(quick.TOKENS, smoke.EXPRESSION))

    def stands(self, tree, name):
        """Whether a tree has one of the areas."""
        return dependencies.stands(tree, f'keystone.tests.unit.{name}')

    def test_what_the_areas_name_exists(self):
        tree = upstream.ensure(self.pin)
        for name in areas.NAMES:
            self.assertTrue(self.stands(tree, name), name)
        for name in ('test_dreams', 'test_revoke.Dreams', 'dreams.Test'):
            self.assertFalse(self.stands(tree, name), name)

    def test_what_older_releases_lack_of_the_areas(self):
        for release in pins.releases()[:-1]:
            tree = upstream.ensure(pins.load(release))
            self.assertEqual(
                ['test_v3_auth.TestUserTokensRevoke'],  # tests a new API
                [name for name in areas.NAMES if not self.stands(tree, name)],
            )

    def test_tempest_finds_our_plugin(self):
        tempest.install_plugin(self.folder)
        found = [
            entry
            for distribution in importlib.metadata.distributions(
                path=[str(self.folder)]
            )
            for entry in distribution.entry_points
            if entry.group == 'tempest.test_plugins'
        ]
        self.assertEqual(1, len(found))
        self.assertEqual(tempest.PLUGIN, found[0].module.split('.')[0])
        path = self.folder / f'{found[0].module.replace(".", "/")}.py'
        self.assertIn(f'class {found[0].attr}(', path.read_text())

    def test_smoke_runs_what_its_name_says(self):
        for name, chosen in {
            'tempest.api.identity.v3.test_tokens.T.test_a': True,
            'tempest.api.identity.admin.v3.test_trusts.T.test_a': True,
            'keystone_tempest_plugin.tests.rbac.v3.test_token.T.a': True,
            'revcache_tempest_plugin.tests.api.test_events.T.a': True,
            'keystone_tempest_plugin.tests.rbac.v3.test_user.T.a': False,
            'tempest.api.compute.test_tokens.T.test_a': False,
        }.items():
            self.assertEqual(
                chosen, bool(re.search(smoke.EXPRESSION, name)), name
            )
