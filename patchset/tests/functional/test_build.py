# SPDX-License-Identifier: Apache-2.0

"""Tests of the wheel."""

import hashlib
import json
import zipfile

from patchset import git
from patchset.commands import build
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

    def test_checksum_and_components(self):
        path = self.wheel('dist')
        checksum, bill = build.describe(path, self.pin)
        digest = hashlib.sha256(path.read_bytes()).hexdigest()
        self.assertEqual(f'{digest}  {path.name}\n', checksum.read_text())
        found = json.loads(bill.read_text())
        subject = found['metadata']['component']
        self.assertEqual(self.pin.local_version, subject['version'])
        self.assertEqual(digest, subject['hashes'][0]['content'])
        (origin,) = subject['pedigree']['ancestors']
        self.assertEqual(self.pin.sha256, origin['hashes'][0]['content'])
        self.assertEqual(
            len(self.topics()), len(subject['pedigree']['patches'])
        )
        names = {one['name'] for one in found['components']}
        self.assertLessEqual({'flask', 'sqlalchemy', 'oslo-cache'}, names)
