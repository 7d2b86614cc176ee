# SPDX-License-Identifier: Apache-2.0

"""Tests of the pins."""

import pathlib

import fixtures
import testtools

from patchset import errors
from patchset import paths
from patchset import pins

_GOOD = {
    'version': '1.2.3',
    'file': 'keystone-1.2.3.tar.gz',
    'sha256': 'a' * 64,
    'build': '7',
}


class PinTestCase(testtools.TestCase):
    def setUp(self):
        super().setUp()
        self.patches = pathlib.Path(self.useFixture(fixtures.TempDir()).path)

    def load(self, **fields):
        folder = self.patches / '2030.1'
        folder.mkdir(exist_ok=True)
        lines = [f'{k}: {v}\n' for k, v in {**_GOOD, **fields}.items() if v]
        (folder / 'UPSTREAM').write_text('# why\n\n' + ''.join(lines))
        return pins.load('2030.1', self.patches)

    def test_load(self):
        pin = self.load()
        self.assertEqual('1.2.3+revcache.7', pin.local_version)
        self.assertEqual('keystone-1.2.3.tar.gz', pin.file)
        self.assertEqual(['2030.1'], pins.releases(self.patches))

    def test_bad_fields_are_named(self):
        for field, value, message in (
            ('sha256', 'xyz', "sha256 is malformed: 'xyz'"),
            ('build', '0', "build is malformed: '0'"),
            ('file', '../x.tar.gz', 'file is malformed'),
            ('version', None, 'missing: version'),
            ('colour', 'red', "unknown field 'colour'"),
        ):
            error = self.assertRaises(
                errors.Error, self.load, **{field: value}
            )
            self.assertIn(message, str(error))

    def test_unknown_release_lists_the_known_ones(self):
        self.load()
        error = self.assertRaises(
            errors.UsageError, pins.load, '2029.2', self.patches
        )
        self.assertEqual('no release 2029.2; there are: 2030.1', str(error))


class ReadmeTestCase(testtools.TestCase):
    def test_names_each_release_and_its_version(self):
        text = ' '.join((paths.ROOT / 'README.rst').read_text().split())
        for release in pins.releases():
            self.assertIn(f'{release} ({pins.load(release).version})', text)
