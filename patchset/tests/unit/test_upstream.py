# SPDX-License-Identifier: Apache-2.0

"""Tests of fetching the pinned source."""

import dataclasses
import pathlib
import shutil

import fixtures

from patchset import errors
from patchset import locking
from patchset import paths
from patchset import upstream
from patchset.tests.unit import base


class FetchTestCase(base.RepositoryTestCase):
    """The package index is a folder, or not there at all."""

    def setUp(self):
        super().setUp()
        self.archive = self.source.parent / self.pin.file
        self.build = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        self.useFixture(
            fixtures.MonkeyPatch('patchset.paths.BUILD', self.build)
        )

    def index(self, *files):
        """Make pip look for archives in a folder, and nowhere else."""
        folder = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        for path in files:
            shutil.copy(path, folder)
        for name, value in (
            ('PIP_NO_INDEX', '1'),
            ('PIP_FIND_LINKS', str(folder)),
        ):
            self.useFixture(fixtures.EnvironmentVariable(name, value))

    def test_fetched_checked_and_unpacked_once(self):
        self.index(self.archive)
        folder = upstream.ensure(self.pin)
        self.assertEqual(paths.pristine(self.pin.version), folder)
        self.assertTrue((folder / 'keystone' / 'revoke' / 'core.py').is_file())
        self.index()
        self.assertEqual(folder, upstream.ensure(self.pin))

    def test_no_wait_for_what_is_there(self):
        self.index(self.archive)
        folder = upstream.ensure(self.pin)
        self.useFixture(fixtures.Timeout(60, gentle=True))
        with (
            locking.exclusive(self.build / 'upstream' / self.pin.file),
            locking.exclusive(folder),
        ):
            self.assertEqual(folder, upstream.ensure(self.pin))

    def test_wrong_sha256_keeps_nothing(self):
        self.index(self.archive)
        pin = dataclasses.replace(self.pin, sha256='0' * 64)
        error = self.assertRaises(errors.Error, upstream.ensure, pin)
        self.assertIn('wrong sha256', str(error))
        self.assertIn(self.pin.sha256, str(error))
        kept = (self.build / 'upstream').glob('[!.]*')
        self.assertEqual([], list(kept))

    def test_archive_that_changed_on_disk(self):
        self.index(self.archive)
        upstream.ensure(self.pin)
        kept = self.build / 'upstream' / self.pin.file
        with open(kept, 'ab') as archive:
            archive.write(b'more')
        error = self.assertRaises(errors.Error, upstream.ensure, self.pin)
        self.assertIn(f'the file {kept} has', str(error))
        self.assertTrue(kept.is_file())

    def test_no_network(self):
        self.index()
        error = self.assertRaises(errors.Error, upstream.ensure, self.pin)
        self.assertIn(f'could not fetch {self.pin.file}', str(error))
        self.assertNotIn('\n', str(error))
