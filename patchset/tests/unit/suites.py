# SPDX-License-Identifier: Apache-2.0

"""Small suites that the real stestr runs."""

import pathlib
import sys

import fixtures
import testtools

from patchset.test_parts import stestr


class Here:
    """The environment that this test itself runs in."""

    python = pathlib.Path(sys.executable)
    bin = python.parent

    @staticmethod
    def variables(tree):
        return {'PYTHONPATH': str(tree)}


class SuiteTestCase(testtools.TestCase):
    """A suite that each test may add to."""

    def setUp(self):
        super().setUp()
        self.tree = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        build = self.useFixture(fixtures.TempDir()).path
        self.useFixture(
            fixtures.MonkeyPatch('patchset.paths.BUILD', pathlib.Path(build))
        )
        self.useFixture(fixtures.EnvironmentVariable('OS_CLOUD', 'mine'))
        self.said = []
        self.useFixture(
            fixtures.MonkeyPatch('patchset.progress.say', self.said.append)
        )
        self.write('small/__init__.py', '')

    def write(self, name, text):
        path = self.tree / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)

    def suite(self, **options):
        if not {'modules', 'script'} & options.keys():
            options['folder'] = 'small'
        return stestr.Suite(
            'small', Here, self.tree, variables={'COLOUR': 'blue'}, **options
        )
