# SPDX-License-Identifier: Apache-2.0

"""Tests of the script that runs keystone-manage commands."""

import pathlib
import sys

import fixtures
import testtools

from patchset import child
from patchset import paths

_MANAGE = """\
import sys

print('imported', flush=True)


def main():
    print(*sys.argv[1:])
    return 3 if 'bad' in sys.argv else None
"""


class ManageTestCase(testtools.TestCase):
    def run_script(self, *words):
        """Run commands of a stand-in for Keystone: exit code, and output."""
        folder = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        module = folder / 'keystone' / 'cmd' / 'manage.py'
        module.parent.mkdir(parents=True)
        module.write_text(_MANAGE)
        script = paths.SCRIPTS / 'manage.py'
        options = ('--config-file', 'a', '--config-dir', 'b')
        done = child.finish(
            [sys.executable, '-P', script, *options, *words],
            env={'PYTHONPATH': str(folder)},
        )
        self.assertEqual('', done.stderr)
        output = done.stdout.replace(' '.join(options), 'options')
        return done.returncode, output.splitlines()

    def test_one(self):
        self.assertEqual(
            (3, ['imported', 'options bad one']), self.run_script('bad', 'one')
        )

    def test_several_are_imported_once(self):
        self.assertEqual(
            (0, ['imported', 'options first', 'options second -v']),
            self.run_script('first', ';', 'second', '-v', ';'),
        )

    def test_none_after_one_that_fails(self):
        self.assertEqual(
            (2, ['imported', 'options first', 'options bad']),
            self.run_script('first', ';', 'bad', ';', 'third'),
        )
