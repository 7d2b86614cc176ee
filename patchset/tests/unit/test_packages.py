# SPDX-License-Identifier: Apache-2.0

"""Missing system packages: named at once, and no failed test."""

from concurrent import futures
import importlib
import os
import pathlib
import shutil
import subprocess
import sys

import fixtures
import testtools

from patchset import child
from patchset import errors
from patchset import paths
from patchset import system
from patchset.commands import test
from patchset.tests.unit import base

# Writes its arguments, and fails if it is started twice.
_APT = """#!/bin/sh
cd "$(dirname "$0")" && mkdir running || exit 100
echo "$@" >> log
sleep 0.2
rmdir running
"""


class MachineFixture(fixtures.Fixture):
    """A PATH with a few programs: nothing can be installed.

    :param programs: names of the programs that there are, beside Python
    """

    def __init__(self, *programs):
        self.programs = programs

    def _setUp(self):
        folder = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        (folder / 'python3').symlink_to(sys.executable)
        for name in self.programs:
            (folder / name).symlink_to(shutil.which(name))
        self.useFixture(fixtures.EnvironmentVariable('PATH', str(folder)))


class MissingPackagesTestCase(base.RepositoryTestCase):
    def setUp(self):
        super().setUp()
        (self.root / 'bindep.txt').write_text(
            'no-test [platform:dpkg test]\n'
            'no-live [platform:dpkg integration]\n'
        )
        self.useFixture(MachineFixture('git', 'dpkg-query'))

    def test_all_parts_are_looked_at_before_the_first_starts(self):
        done = self.ks('test', 'unit', 'smoke')
        self.assertEqual(3, done.returncode, done.stderr)
        self.assertEqual('', done.stdout)  # no part, and no count
        self.assertEqual(
            'ks: error: missing system packages; install them with: '
            'sudo apt-get install no-live no-test',
            done.stderr.strip(),
        )

    def test_parts_that_are_not_run_need_nothing(self):
        done = self.ks('test', 'smoke')
        self.assertEqual(3, done.returncode, done.stderr)
        self.assertIn('sudo apt-get install no-live\n', done.stderr)


class EnsureTestCase(testtools.TestCase):
    def test_nothing_is_missing(self):
        self.assertIsNone(system.ensure('no-such-profile'))

    def test_two_at_a_time(self):
        """apt-get fails while another one runs."""
        folder = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        (folder / 'apt-get').write_text(_APT)
        (folder / 'apt-get').chmod(0o755)
        path = f'{folder}{os.pathsep}{os.environ["PATH"]}'
        self.useFixture(fixtures.EnvironmentVariable('PATH', path))
        for patch in (
            fixtures.MockPatchObject(os, 'geteuid', lambda: 0),
            fixtures.MockPatchObject(paths, 'BUILD', folder),
            fixtures.MockPatchObject(system, 'missing', lambda name: [name]),
        ):
            self.useFixture(patch)
        with futures.ThreadPoolExecutor() as pool:
            list(pool.map(system.ensure, ('one', 'two')))
        log = (folder / 'log').read_text()
        self.assertEqual(4, log.count('\n'), log)
        for name in ('one', 'two'):
            self.assertRegex(log, rf'(?m)^install .*300 {name}$')

    def test_a_program_is_missing(self):
        self.assertRaises(errors.NotInstalled, child.find, 'no-such-program')
        self.assertRaises(errors.NotInstalled, child.run, ['no-such-program'])

    def test_each_part_names_profiles_that_exist(self):
        text = (paths.ROOT / 'bindep.txt').read_text()
        for part in test.PARTS:
            module = importlib.import_module(f'patchset.test_parts.{part}')
            for profile in module.PACKAGES:
                self.assertRegex(text, rf'\[platform:dpkg[^]]* {profile}\b')


class LauncherTestCase(testtools.TestCase):
    """./ks in a copy where nothing was made yet."""

    def setUp(self):
        super().setUp()
        self.build = pathlib.Path(self.useFixture(fixtures.TempDir()).path)

    def ks(self, *words):
        return subprocess.run(
            [paths.ROOT / 'ks', *words],
            env={**os.environ, 'KS_BUILD_DIR': str(self.build / 'build')},
            capture_output=True,
            text=True,
        )

    def test_help_needs_nothing_and_makes_nothing(self):
        self.useFixture(MachineFixture())
        for words in (('--help',), ('test', '--help'), ('python', '-h')):
            done = self.ks(*words)
            self.assertEqual(0, done.returncode, done.stderr)
            self.assertIn('usage: ./ks', done.stdout)
        self.assertEqual(2, self.ks().returncode)
        self.assertEqual([], list(self.build.iterdir()))

    def test_git_is_missing(self):
        self.useFixture(MachineFixture())
        done = self.ks('check')
        self.assertEqual(3, done.returncode, done.stderr)
        self.assertIn('sudo apt-get install git', done.stderr)
        self.assertEqual([], list(self.build.iterdir()))
