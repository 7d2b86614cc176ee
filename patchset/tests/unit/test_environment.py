# SPDX-License-Identifier: Apache-2.0

"""Tests of the virtual environments."""

import os
import pathlib
import subprocess
import sys

import fixtures
import testtools

from patchset import environment
from patchset import errors
from patchset import locking


class EnvironmentTestCase(testtools.TestCase):
    """An environment made of a lock that names no package."""

    def setUp(self):
        super().setUp()
        self.build = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        requirements = self.build / 'requirements'
        (requirements / '2026.2').mkdir(parents=True)
        (requirements / '2026.2' / 'run.txt').touch()
        (self.build / 'bindep.txt').touch()
        for name, value in (
            ('REQUIREMENTS', requirements),
            ('ROOT', self.build),
        ):
            self.useFixture(
                fixtures.MonkeyPatch(f'patchset.paths.{name}', value)
            )

    def environment(self, folder):
        with fixtures.MonkeyPatch('patchset.paths.BUILD', self.build / folder):
            return environment.Environment('2026.2', 'run')

    def test_made_once_and_again_where_it_was_moved_to(self):
        made = self.environment('one').ensure()
        (made.path / 'kept').touch()
        self.environment('one').ensure()
        self.assertTrue((made.path / 'kept').exists())
        (self.build / 'one').rename(self.build / 'two')
        moved = self.environment('two').ensure()
        subprocess.run([moved.bin / 'pip', '--version'], check=True)

    def test_no_wait_for_what_is_there(self):
        made = self.environment('one').ensure()
        self.useFixture(fixtures.Timeout(60, gentle=True))
        with locking.exclusive(made.path):
            self.environment('one').ensure()

    def test_packages_that_cannot_be_had(self):
        lock = self.build / 'requirements' / '2026.2' / 'run.txt'
        lock.write_text(f'nothing==1 --hash=sha256:{"0" * 64}\n')
        self.useFixture(fixtures.EnvironmentVariable('PIP_NO_INDEX', '1'))
        made = self.environment('one')
        error = self.assertRaises(errors.Error, made.ensure)
        self.assertIn('run.txt from the package index failed: ', str(error))

    def test_what_it_runs_is_compiled_once_whatever_the_shell_says(self):
        tree = self.build / 'tree'
        tree.mkdir()
        (tree / 'something.py').touch()
        self.useFixture(
            fixtures.MonkeyPatch('patchset.paths.BUILD', self.build)
        )
        variables = self.environment('one').variables(tree)
        with fixtures.EnvironmentVariable('PYTHONDONTWRITEBYTECODE', '1'):
            subprocess.run(
                [sys.executable, '-c', 'import something'],
                env={**os.environ, **variables},
                check=True,
            )
        self.assertEqual(1, len(list(self.build.rglob('something.*.pyc'))))
        self.assertEqual([tree / 'something.py'], list(tree.iterdir()))
