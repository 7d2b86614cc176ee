# SPDX-License-Identifier: Apache-2.0

"""Tests of the DevStack plugin, phase by phase, on a real git tree."""

import configparser
import os
import pathlib
import shutil
import subprocess

import fixtures

from patchset import assemble
from patchset import export
from patchset import git
from patchset import paths
from patchset.tests.unit import base

_FUNCTIONS = pathlib.Path(__file__).with_name('devstack_functions.sh')
# As DevStack has it: settings first, then one source per phase, stopping at
# the first command that fails.
_PHASES = """
set -o errexit
source "$1"
function run_plugin {
    source "$PLUGIN/devstack/plugin.sh" $1
}
source "$PLUGIN/devstack/settings"
for phase in "${@:2}"; do
    run_plugin "$phase"
done
"""
_CONFIGURED = """\
[DEFAULT]
debug = True

[token]
expiration = 7200
provider = fernet
"""


class DevstackTestCase(base.RepositoryTestCase):
    """A Keystone as DevStack leaves it before the plugins' install phase."""

    def setUp(self):
        super().setUp()
        shutil.copytree(paths.ROOT / 'devstack', self.root / 'devstack')
        self.folder = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        self.keystone = self.folder / 'keystone'
        assemble.start(self.source, self.keystone)
        # As cloned by a user who never told git a name.
        git.git(self.keystone, 'config', '--unset', 'user.name')
        git.git(self.keystone, 'config', '--unset', 'user.email')
        self.pristine = assemble.head(self.keystone)
        self.conf = self.folder / 'keystone.conf'
        self.conf.write_text(_CONFIGURED)
        # Nothing spoils the repository itself, so that its assembled tree
        # serves for all tests.
        self.plugin = paths.ROOT
        self.build = paths.BUILD

    def run_phases(self, *phases, **settings):
        """Run phases such as ``stack install``; return how it ended."""
        environment = {
            'PATH': os.environ['PATH'],
            'HOME': str(self.folder),
            'ENABLED_SERVICES': 'mysql,keystone,tempest',
            'PLUGIN': str(self.plugin),
            'KS_BUILD_DIR': str(self.build),
            'KEYSTONE_DIR': str(self.keystone),
            'KEYSTONE_CONF': str(self.conf),
            'SETUP_DEVELOP_LOG': str(self.folder / 'setup_develop.log'),
            'TMPDIR': str(self.folder),
            **settings,
        }
        return subprocess.run(
            ['bash', '-c', _PHASES, 'bash', _FUNCTIONS, *phases],
            env=environment,
            capture_output=True,
            text=True,
            timeout=300,
        )

    def run_well(self, *phases, **settings):
        """Run phases that succeed; return what they printed."""
        done = self.run_phases(*phases, **settings)
        self.assertEqual(0, done.returncode, done.stderr)
        return done.stdout + done.stderr

    def run_badly(self, *phases, **settings):
        """Run phases that fail; return the complaint."""
        done = self.run_phases(*phases, **settings)
        self.assertNotEqual(0, done.returncode, done.stdout)
        return done.stderr

    def head(self):
        return assemble.head(self.keystone)

    def tree_id(self, tree):
        """Id of all files of a tree's last commit."""
        return git.git(tree, 'rev-parse', 'HEAD^{tree}')

    def status(self):
        return git.git(self.keystone, 'status', '--porcelain')

    def installed(self):
        """The folders that were reinstalled, in order."""
        log = self.folder / 'setup_develop.log'
        return log.read_text().splitlines() if log.exists() else []

    def options(self):
        parser = configparser.RawConfigParser(default_section=None)
        parser.read(self.conf)
        return {name: dict(parser[name]) for name in parser.sections()}

    def assert_pristine(self):
        self.assertEqual(self.pristine, self.head())
        self.assertEqual('', self.status())

    def assembled(self):
        """The tree that the plugin's ``./ks`` assembles."""
        return assemble.ensure(self.pin)

    def assert_patched(self):
        self.assertEqual(
            self.tree_id(self.assembled()), self.tree_id(self.keystone)
        )
        self.assertEqual('', self.status())

    def changed_file(self):
        """Name of a file that upstream has and a topic changes."""
        return git.names(
            self.assembled(), 'diff', '--name-only', '-z', '--diff-filter=M',
            assemble.BASE,
        )[0]  # fmt: skip


class TopicsTestCase(DevstackTestCase):
    def test_install_gives_the_assembled_tree(self):
        self.run_well('stack pre-install')
        self.assert_pristine()
        self.run_well('stack install')
        self.assert_patched()
        subjects = git.git(
            self.keystone, 'log', '--reverse', '--format=%s', '-n',
            str(len(self.topics())),
        ).splitlines()  # fmt: skip
        self.assertEqual([topic.subject for topic in self.topics()], subjects)
        patched = self.head()
        self.run_well('stack post-config', 'stack extra', 'stack test-config')
        self.assertEqual(patched, self.head())
        printed = self.run_well('stack install')
        self.assertIn('The topics are already applied', printed)
        self.assertEqual(patched, self.head())
        # The installation that DevStack made sees every file in the tree.
        self.assertEqual([], self.installed())

    def test_unstack_and_clean_undo(self):
        before = {path.name for path in self.folder.iterdir()}
        self.run_well('stack install')
        self.run_well('unstack')
        self.assert_pristine()
        self.run_well('clean')
        self.assert_pristine()
        self.run_well('stack install', 'clean')
        self.assert_pristine()
        after = {path.name for path in self.folder.iterdir()}
        self.assertEqual(before, after)

    def test_clean_without_keystone(self):
        shutil.rmtree(self.keystone)
        self.run_well('unstack', 'clean')

    def test_keystone_elsewhere(self):
        self.run_well(
            'stack install', 'unstack', ENABLED_SERVICES='nova,keystone-x'
        )
        self.assert_pristine()

    def test_checkout_made_anew(self):
        self.run_well('stack install')
        git.git(self.keystone, 'checkout', '--quiet', self.pristine)
        self.run_well('unstack')
        self.assert_pristine()
        self.run_well('stack install')
        self.assert_patched()
        git.git(self.keystone, 'checkout', '--quiet', self.pristine)
        self.run_well('stack install')
        self.assert_patched()

    def test_some_topics(self):
        topics = self.topics()
        wanted = topics[-1].name, topics[0].name
        applied = export.closure(topics, wanted)
        self.run_well('stack install', REVCACHE_TOPICS=','.join(wanted))
        for topic in topics:
            for name in topic.adds:
                self.assertEqual(
                    topic.name in applied, (self.keystone / name).exists()
                )
        self.run_well('stack install', REVCACHE_TOPICS='')
        self.assert_patched()
        self.run_well('unstack')
        self.assert_pristine()

    def test_shared_dependency_is_applied_once(self):
        topics = self.topics()
        dependent = next(topic for topic in topics if topic.depends)
        needed = dependent.depends[0]
        self.run_well(
            'stack install', REVCACHE_TOPICS=f'{needed} {dependent.name}'
        )
        subjects = git.git(
            self.keystone, 'log', '--format=%s', f'{self.pristine}..'
        ).splitlines()
        for topic in topics:
            if topic.name in (needed, dependent.name):
                self.assertEqual(1, subjects.count(topic.subject))

    def test_unknown_topic(self):
        error = self.run_badly('stack install', REVCACHE_TOPICS='dreams')
        self.assertIn('ks: error: no topic dreams; there are: ', error)
        self.assertIn('failed to export the topics', error)
        self.assert_pristine()

    def test_release(self):
        self.run_well('stack install', REVCACHE_RELEASE=self.pin.release)
        self.assert_patched()
        error = self.run_badly('stack install', REVCACHE_RELEASE='1999.1')
        self.assertIn('ks: error: no release 1999.1; there are: ', error)


class EditedTreeTestCase(DevstackTestCase):
    def edit(self, name='README.rst'):
        path = self.keystone / name
        path.write_text(path.read_text() + '\nmine\n')

    def commit(self):
        git.commit(self.keystone, 'Mine\n')
        return self.head()

    def test_edits_stop_the_install(self):
        self.edit()
        error = self.run_badly('stack install')
        self.assertIn('has uncommitted changes', error)
        self.assertEqual(self.pristine, self.head())
        self.assertEqual(' M README.rst\n', self.status())

    def test_edits_outlive_the_undoing(self):
        self.run_well('stack install')
        self.edit()
        self.run_well('unstack')
        self.assertEqual(self.pristine, self.head())
        self.assertEqual(' M README.rst\n', self.status())

    def test_topics_that_do_not_apply_leave_no_trace(self):
        path = self.keystone / self.changed_file()
        path.write_text('# something else altogether\n')
        git.git(self.keystone, 'add', '--all')
        before = self.commit()
        error = self.run_badly('stack install')
        self.assertIn(f'do not apply to {self.keystone} at {before}', error)
        self.assertEqual(before, self.head())
        self.assertEqual('', self.status())
        self.assertFalse((self.keystone / '.git' / 'rebase-apply').exists())

    def test_an_unfinished_git_am_is_left_alone(self):
        unfinished = self.keystone / '.git' / 'rebase-apply'
        unfinished.mkdir()
        error = self.run_badly('stack install')
        self.assertIn('is in the middle of a git am or rebase', error)
        self.assertTrue(unfinished.is_dir())
        self.assertEqual(self.pristine, self.head())

    def test_commits_on_top_are_kept(self):
        self.run_well('stack install')
        self.edit()
        git.git(self.keystone, 'add', '--all')
        mine = self.commit()
        self.run_well('stack install')
        self.assertEqual(mine, self.head())
        printed = self.run_well('unstack')
        self.assertIn('has commits on top of the topics', printed)
        self.assertEqual(mine, self.head())
        error = self.run_badly(
            'stack install', REVCACHE_TOPICS=self.topics()[0].name
        )
        self.assertIn('failed to remove the topics', error)
        self.assertEqual(mine, self.head())

    def test_a_branch_that_moved_on_takes_the_topics(self):
        name = self.changed_file()
        path = self.keystone / name
        path.write_text('# A line more at the top.\n' + path.read_text())
        git.git(self.keystone, 'add', '--all')
        before = self.commit()
        self.run_well('stack install')
        self.assertTrue(path.read_text().startswith('# A line more'))
        self.assertIn(
            path.read_text().partition('\n')[2],
            (self.assembled() / name).read_text(),
        )
        self.run_well('unstack')
        self.assertEqual(before, self.head())


class PackagingTestCase(DevstackTestCase):
    def setUp(self):
        super().setUp()
        self.plugin = self.root
        self.build = self.root / 'build'
        self.ks('--help')  # links the environments into that folder
        self.add_topic()

    def assembled(self):
        return self.build / self.pin.release

    def add_topic(self):
        """Give the copy a topic that adds an entry point."""
        tree = self.assemble()
        self.substitute(
            tree / 'pyproject.toml',
            r'^\[project\.entry-points\."keystone\.revoke"\]$',
            '[project.entry-points."keystone.revoke"]\n'
            'again = "keystone.revoke.backends.sql:Revoke"',
        )
        git.git(tree, 'add', '--all')
        git.commit(tree, 'Name the driver again\n\nForwarded: no\n')
        patch = git.git(
            tree, 'format-patch', '--stdout', '--zero-commit',
            '--no-signature', '--full-index', '-1',
        )  # fmt: skip
        (self.series.parent / 'entry-point.patch').write_text(patch)
        with open(self.series, 'a') as listed:
            listed.write('entry-point.patch\n')

    def drop_topic(self):
        """Take that topic out of the copy again, as a newer plugin might."""
        (self.series.parent / 'entry-point.patch').unlink()
        self.substitute(self.series, r'^entry-point\.patch\n', '')

    def test_entry_points_need_an_installation(self):
        self.run_well('stack install')
        self.assert_patched()
        self.assertEqual([str(self.keystone)], self.installed())
        self.run_well('stack install')
        self.assertEqual([str(self.keystone)], self.installed())
        self.drop_topic()
        self.run_well('stack install')
        self.assert_patched()
        self.assertEqual([str(self.keystone)] * 2, self.installed())
        self.run_well('unstack', 'clean')
        self.assert_pristine()
        self.assertEqual([str(self.keystone)] * 2, self.installed())


class OptionsTestCase(DevstackTestCase):
    # Options need no topics; the cheapest will do.
    def settings(self, options):
        return {
            'REVCACHE_TOPICS': self.topics()[0].name,
            'REVCACHE_OPTIONS': options,
        }

    def test_set_and_undone(self):
        before = self.options()
        settings = self.settings(
            'token.expiration=600 DEFAULT.debug= cache.enabled=True'
        )
        self.run_well('stack install', **settings)
        self.assertEqual(
            {
                'DEFAULT': {'debug': ''},
                'token': {'expiration': '600', 'provider': 'fernet'},
                'cache': {'enabled': 'True'},
            },
            self.options(),
        )
        self.run_well('stack install', **settings)
        self.run_well('unstack', 'clean', **settings)
        self.assertEqual({**before, 'cache': {}}, self.options())

    def test_values_that_a_shell_or_sed_would_change(self):
        self.substitute(self.conf, '^provider = fernet$', 'provider = *')
        before = self.options()
        settings = self.settings('token.provider=*&* token.expiration=7&')
        for _ in range(2):
            self.run_well('stack install', **settings)
            self.assertEqual(
                {'provider': '*&*', 'expiration': '7&'},
                self.options()['token'],
            )
        self.run_well('unstack', **settings)
        self.assertEqual(before, self.options())

    def test_changed_settings(self):
        self.run_well('stack install', **self.settings('token.expiration=600'))
        self.run_well('stack install', **self.settings('token.provider=jws'))
        self.assertEqual(
            {'expiration': '7200', 'provider': 'jws'}, self.options()['token']
        )

    def test_value_changed_by_another_is_kept(self):
        settings = self.settings('token.expiration=600')
        self.run_well('stack install', **settings)
        self.substitute(self.conf, r'^expiration = 600$', 'expiration = 60')
        self.run_well('unstack', **settings)
        self.assertEqual('60', self.options()['token']['expiration'])

    def test_file_made_anew(self):
        settings = self.settings('token.expiration=600')
        self.run_well('stack install', **settings)
        self.conf.write_text('')
        self.run_well('stack install', 'unstack', **settings)
        self.assertEqual({'token': {}}, self.options())

    def test_malformed(self):
        for options in ('expiration=600', 'token.expiration', 'token.=1'):
            error = self.run_badly('stack install', **self.settings(options))
            self.assertIn(f'not section.option=value: {options}', error)
        self.assertEqual(_CONFIGURED, self.conf.read_text())
