# SPDX-License-Identifier: Apache-2.0

"""Tests of temporary files in memory."""

import os
import pathlib
import tempfile

import fixtures
import testtools

from patchset import child
from patchset import memory


class MemoryTestCase(testtools.TestCase):
    def setUp(self):
        super().setUp()
        self.folder = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        self.useFixture(fixtures.EnvironmentVariable('TMPDIR'))
        self.useFixture(fixtures.MonkeyPatch('tempfile.tempdir', None))
        self.patch('FOLDER', self.folder)
        self.patch('PLENTY', 1)

    def patch(self, name, value):
        self.useFixture(fixtures.MonkeyPatch(f'patchset.memory.{name}', value))

    def test_own_and_those_of_processes(self):
        before = tempfile.gettempdir()
        with memory.temporary():
            (folder,) = self.folder.iterdir()
            self.assertEqual(0o1777, folder.stat().st_mode & 0o7777)
            other = child.run(['mktemp'], what='mktemp').strip()
            with tempfile.NamedTemporaryFile() as own:
                for name in (own.name, other):
                    self.assertEqual(folder, pathlib.Path(name).parent)
        self.assertEqual([], list(self.folder.iterdir()))
        self.assertNotIn('TMPDIR', os.environ)
        self.assertEqual(before, tempfile.gettempdir())

    def test_elsewhere_with_little_memory(self):
        self.patch('PLENTY', memory.available() + 2**40)
        with memory.temporary():
            self.assertEqual([], list(self.folder.iterdir()))

    def test_elsewhere_without_the_folder(self):
        self.patch('FOLDER', self.folder / 'gone')
        with memory.temporary():
            self.assertNotIn('TMPDIR', os.environ)

    def test_where_the_user_says(self):
        os.environ['TMPDIR'] = '/'
        with memory.temporary():
            self.assertEqual([], list(self.folder.iterdir()))
            self.assertEqual('/', os.environ['TMPDIR'])

    def test_removed_after_an_error(self):
        def fail():
            with memory.temporary():
                raise ZeroDivisionError()

        self.assertRaises(ZeroDivisionError, fail)
        self.assertEqual([], list(self.folder.iterdir()))
