# SPDX-License-Identifier: Apache-2.0

import pathlib

import fixtures
import testtools

from patchset import pins
from patchset.commands import cover
from patchset.tests.unit import test_commands


class CoverTestCase(testtools.TestCase):
    def test_the_code_is_measured_and_the_tests_are_not(self):
        tree = pathlib.Path('/tree')
        own, *found = cover.measured(pins.load(pins.newest()), tree)
        self.assertThat(own, testtools.matchers.EndsWith('/patchset/*'))
        self.assertIn('/tree/keystone/models/revoke_model.py', found)
        for name in found:
            self.assertNotIn('/tests/', name)


class GenconfigTestCase(testtools.TestCase):
    def test_the_sample_has_the_options(self):
        folder = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        sample = folder / 'new' / 'keystone.conf'
        code, text = test_commands.run('genconfig', '--output', str(sample))
        self.assertEqual((0, f'{sample}'), (code, text.splitlines()[-1]))
        self.assertIn('\n[revoke]\n', sample.read_text())

    def test_a_folder_that_cannot_be_made(self):
        code, text = test_commands.run(
            'genconfig', '--output', '/dev/null/keystone.conf'
        )
        self.assertEqual(1, code)
        self.assertIn('ks: error: /dev/null: ', text)
