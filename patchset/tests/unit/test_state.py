# SPDX-License-Identifier: Apache-2.0

"""Tests of the state folder."""

import pathlib
import stat

import fixtures
import testtools

from patchset import errors
from patchset import state


class StateTestCase(testtools.TestCase):
    def setUp(self):
        super().setUp()
        self.folder = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        self.state = self.make('a/state')

    def make(self, name):
        one = state.State(self.folder / name)
        self.addCleanup(one.release)
        return one

    def test_is_private(self):
        self.state.claim()
        self.state.write('openrc', 'x')
        for path, mode in (
            (self.state.path, 0o700),
            (self.state.path / 'keystone.conf.d', 0o700),
            (self.state.path / 'lock', 0o600),
            (self.state.path / 'openrc', 0o600),
        ):
            self.assertEqual(mode, stat.S_IMODE(path.stat().st_mode), path)

    def test_a_private_file_replaces_a_public_one(self):
        self.state.claim()
        path = self.state.path / 'openrc'
        path.write_text('old')
        path.chmod(0o644)
        names = sorted(self.state.path.iterdir())
        self.state.write('openrc', 'new')
        self.assertEqual('new', path.read_text())
        self.assertEqual(0o600, stat.S_IMODE(path.stat().st_mode))
        self.assertEqual(names, sorted(self.state.path.iterdir()))

    def test_others_can_tell_whether_it_is_claimed(self):
        other = self.make('a/state')
        self.assertFalse(other.is_claimed())
        self.state.claim()
        self.assertTrue(other.is_claimed())
        self.state.release()
        self.assertFalse(other.is_claimed())

    def test_one_user_at_a_time(self):
        self.state.claim()
        self.state.claim()
        other = self.make('a/state')
        error = self.assertRaises(errors.Error, other.claim)
        self.assertIn('is in use by another Keystone', str(error))
        self.state.release()
        other.claim()

    def test_a_folder_with_other_files_stays_as_it_is(self):
        self.folder.chmod(0o755)
        (self.folder / 'letter').write_text('dear')
        error = self.assertRaises(errors.Error, self.make('').claim)
        self.assertIn('contains unrelated files', str(error))
        self.assertEqual(0o755, stat.S_IMODE(self.folder.stat().st_mode))

    def test_a_folder_that_cannot_be_made(self):
        (self.folder / 'file').write_text('')
        error = self.assertRaises(errors.Error, self.make('file/x').claim)
        self.assertIn('Not a directory', str(error))

    def test_record(self):
        self.state.claim()
        self.assertEqual({}, self.state.record())
        self.state.note({'admin': 'x'})
        self.assertEqual({'admin': 'x'}, self.state.record())
        self.state.write('deployment.json', '{cut short')
        self.assertEqual({}, self.state.record())
