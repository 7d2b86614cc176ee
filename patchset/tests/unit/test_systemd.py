# SPDX-License-Identifier: Apache-2.0

"""The units of systemd are ones that it takes."""

import pathlib
import shutil
import subprocess

import fixtures
import testtools

from patchset import paths

UNITS = paths.ROOT / 'contrib' / 'systemd'
PROGRAMS = '/opt/keystone/bin'


class UnitsTestCase(testtools.TestCase):
    def setUp(self):
        super().setUp()
        self.folder = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        programs = self.folder / 'bin'
        programs.mkdir()
        for name in ('uwsgi', 'keystone-manage'):
            (programs / name).symlink_to(shutil.which('true'))
        for path in UNITS.iterdir():
            text = path.read_text().replace(PROGRAMS, str(programs))
            (self.folder / path.name).write_text(text)

    def verify(self):
        """What systemd complains of, as text."""
        units = sorted(self.folder.glob('keystone*'))
        done = subprocess.run(
            ['systemd-analyze', 'verify', '--man=no', *units],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        # It exits with 0 where it ignores a line.
        return done.stdout or done.returncode

    def test_it_takes_each(self):
        self.assertEqual(0, self.verify())

    def test_it_would_find_a_misspelt_option(self):
        path = self.folder / 'keystone.service'
        path.write_text(path.read_text().replace('Restart=', 'Restrat='))
        self.assertIn("Unknown key 'Restrat'", self.verify())

    def test_each_timer_has_its_service(self):
        timers = sorted(UNITS.glob('*.timer'))
        self.assertEqual(2, len(timers))
        for timer in timers:
            self.assertTrue(timer.with_suffix('.service').is_file(), timer)
