# SPDX-License-Identifier: Apache-2.0

"""Phases of the DevStack plugin, on a real git tree."""

import configparser
import os
import pathlib
import shutil
import subprocess

import fixtures

from patchset import assemble
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
CONFIGURED = """\
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
        self.conf.write_text(CONFIGURED)
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
