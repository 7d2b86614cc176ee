# SPDX-License-Identifier: Apache-2.0

"""Tests of the wheel."""

import zipfile

from patchset import build
from patchset import git
from patchset.tests.unit import base


class WheelTestCase(base.RepositoryTestCase):
    def setUp(self):
        super().setUp()
        self.tree = self.assemble()

    def wheel(self, name):
        return build.wheel(self.tree, self.pin, self.root / name)

    def test_same_bytes_twice(self):
        self.assertEqual(
            self.wheel('one').read_bytes(), self.wheel('two').read_bytes()
        )

    def test_name_and_content(self):
        path = self.wheel('dist')
        self.assertEqual(
            f'keystone-{self.pin.version}+revcache.{self.pin.build}'
            '-py3-none-any.whl',
            path.name,
        )
        with zipfile.ZipFile(path) as archive:
            packed = {n for n in archive.namelist() if n[:9] == 'keystone/'}
        self.assertEqual(
            set(git.names(self.tree, 'ls-files', '-z', 'keystone')), packed
        )
