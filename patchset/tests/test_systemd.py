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
