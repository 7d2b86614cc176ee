# SPDX-License-Identifier: Apache-2.0

"""Tests of carrying topics over to another upstream version."""

import re
import shutil

from patchset import assemble
from patchset import git
from patchset import pins
from patchset import series
from patchset import upstream
from patchset.tests.unit import base

# What the last of the few topics changes; it does not merge there.
FILE = 'keystone/server/flask/request_processing/middleware/auth_context.py'


class PortTestCase(base.RepositoryTestCase):
    """A repository that has one release, and gets an older one."""

    def setUp(self):
        super().setUp()
        self.old = pins.load('2026.1')
        upstream.ensure(self.old)
        self.few()
        self.listed = (
            '# without dreams: nobody\n#   has them.\n'
            + self.series.read_text()
        )
        self.series.write_text(self.listed)
        self.tree = self.root / 'build' / self.old.release

    def port(self, *words):
        return self.ks('port', '--release', self.old.release, *words)

    def start(self):
        """Start, and come to the topic that needs a person."""
        done = self.port(self.old.version)
        self.assertEqual(1, done.returncode, done.stderr)
        self.assertIn(f'{base.FEW[-1]} needs you, in {self.tree}', done.stderr)
        self.assertIn(FILE, done.stderr)
        self.assertIn(self.old.sha256, done.stdout)

    def resolve(self, change):
        """Resolve the conflict: this version's side, changed."""
        path = self.tree / FILE
        sides = re.compile(
            '^<<<<<<< .*?\n(.*?)^=======\n.*?^>>>>>>> .*?\n', re.M | re.S
        )
        path.write_text(change(sides.sub(r'\1', path.read_text())))
        git.git(self.tree, 'add', '--all')
        git.git(
            self.tree, '-c', 'core.editor=true', 'cherry-pick', '--continue'
        )

    def test_from_the_pin_to_the_patches(self):
        self.start()
        patches = self.patches.parent
        self.assertEqual(self.old, pins.load(self.old.release, patches))
        early = self.ks('refresh', '--release', self.old.release)
        self.assertIn('finish ./ks port first', early.stderr)
        again = self.port()
        self.assertIn(f'{base.FEW[-1]} needs you', again.stderr)

        self.resolve(lambda text: text.replace('self.token.m', 'token.m'))
        done = self.port()

        self.assertEqual(0, done.returncode, done.stderr)
        self.assertIn(f'{base.FEW[-1]} has changed hunks', done.stdout)
        self.assertNotIn(base.FEW[0], done.stdout)
        refreshed = self.ks('refresh', '--release', self.old.release)
        self.assertEqual(0, refreshed.returncode, refreshed.stderr)
        listed = patches / self.old.release / self.series.parent.name
        self.assertEqual(self.listed, (listed / 'series').read_text())
        topics = series.load(self.old.release, patches)
        self.assertIn('ban_ec2credential_tokens', topics[-1].diff)
        self.assertEqual(self.topics()[0].adds, topics[0].adds)
        self.assertEqual(2, self.port().returncode)

    def test_topic_that_upstream_has(self):
        self.start()
        upstreams = git.git(self.tree, 'show', f'HEAD:{FILE}')
        self.resolve(lambda text: upstreams)

        done = self.port()

        self.assertIn(f'{base.FEW[-1]} has no hunks left', done.stdout)

    def test_topic_that_is_done_without(self):
        folder = self.patches.parent / self.old.release
        shutil.copytree(self.patches, folder)
        for path in folder.glob('*/*.patch'):
            path.unlink()
        for path in folder.glob('*/series'):
            path.write_text('')
        path.write_text(f'# without {base.FEW[-1]}: not here\n')
        done = self.port(self.old.version, '--from', self.pin.release)
        self.assertEqual(0, done.returncode, done.stderr)
        log = git.git(self.tree, 'log', '--format=%B', 'upstream..HEAD')
        for name in base.FEW[:-1]:
            self.assertIn(f'/{name}\n', log)
        self.assertNotIn(base.FEW[-1], log)


class CheckTestCase(base.RepositoryTestCase):
    """A repository of upstream that may have changed."""

    def setUp(self):
        super().setUp()
        self.few()
        self.tree = self.root / 'upstream'
        assemble.start(self.source, self.tree)

    def check(self, *words):
        return self.ks('port', '--check', 'HEAD', '--tree', self.tree, *words)

    def change(self, name, text):
        (self.tree / name).write_text(text)
        git.git(self.tree, 'add', '--all')
        git.commit(self.tree, 'A change\n')

    def test_all_apply(self):
        head = git.git(self.tree, 'rev-parse', 'HEAD')
        self.change('new.txt', 'new')

        done = self.check()

        self.assertEqual(0, done.returncode, done.stderr)
        count = len(self.topics())
        for name in base.FEW:
            self.assertIn(f'{name}: applies\n', done.stdout)
        self.assertIn(f'{count} of {count} topics apply to HEAD', done.stdout)
        self.assertEqual(head, git.git(self.tree, 'rev-parse', 'HEAD~1'))
        self.assertEqual('', git.git(self.tree, 'status', '--porcelain'))

    def test_one_does_not(self):
        self.change(FILE, 'other\n')

        done = self.check()

        self.assertEqual(1, done.returncode, done.stderr)
        self.assertIn(
            f'{base.FEW[-1]}: {FILE}: patch does not apply\n', done.stdout
        )
        # It has a hunk of another one as well.
        count = len(self.topics())
        self.assertIn(f'{count - 2} of {count} topics', done.stdout)

    def test_invalid(self):
        for words, code, message in (
            (('--check', 'none'), 1, 'no commit none of Keystone'),
            (('--tree', self.root), 1, 'no commit HEAD of Keystone'),
            (('--tree', self.root / 'none'), 1, 'no commit HEAD of Keystone'),
            (('30.0.0',), 2, '--check takes no version'),
        ):
            done = self.check(*words)
            self.assertEqual(code, done.returncode, done.stderr)
            self.assertIn(message, done.stderr)
        done = self.ks('port', '--tree', self.tree)
        self.assertEqual(2, done.returncode)
        self.assertIn('--tree requires --check', done.stderr)
