# SPDX-License-Identifier: Apache-2.0

"""Tests of how the long tests are shared out."""

import pathlib

import fixtures
from stestr import scheduler
from stestr.repository import file
import testtools

from patchset import paths
from patchset.test_parts import durations


class DurationsTestCase(testtools.TestCase):
    def setUp(self):
        super().setUp()
        self.folder = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        listed = self.folder / 'listed'
        listed.write_text('# long\n30 a.B.long\n10 a.B.longish  # a note\n')
        self.useFixture(
            fixtures.MonkeyPatch('patchset.test_parts.durations.LIST', listed)
        )

    def shares(self, ids, known=(), group=None):
        """How many tests stestr gives to each of two processes."""
        durations.make_repository(self.folder, known)
        repository = file.RepositoryFactory().open(str(self.folder))
        self.assertEqual(0, repository.count())
        parts = scheduler.partition_tests(ids, 2, repository, group)
        return sorted(map(len, parts))

    def test_a_long_test_weighs_as_much_as_it_takes(self):
        ids = [f'a.C.test_{number}[id-{number},smoke]' for number in range(30)]
        ids += ['a.B.longish', 'a.B.long']
        self.assertEqual([6, 26], self.shares(ids, ids))

    def test_only_the_long_ones_are_known(self):
        ids = ['a.B.longish', 'a.C.test_1', 'a.B.long', 'a.C.test_2']
        self.assertEqual([2, 2], self.shares(ids))

    def test_a_large_class_weighs_as_much_as_its_tests(self):
        large = [f'a.Large.{number}' for number in range(4)]
        small = [f'a.{name}.{number}' for name in 'BC' for number in range(2)]
        ids = [*small[:2], *large, *small[2:]]
        self.assertEqual(
            [4, 4], self.shares(ids, ids, lambda test: test.rpartition('.')[0])
        )


class ListTestCase(testtools.TestCase):
    def test_each_long_test_exists(self):
        self.assertNotEqual({}, durations.known())
        for test, seconds in durations.known().items():
            self.assertGreater(seconds, 0, test)
            module, case, name = test.rsplit('.', 2)
            path = paths.ROOT / f'{module.replace(".", "/")}.py'
            text = path.read_text()
            self.assertIn(f'\nclass {case}(', text, test)
            self.assertIn(f'    def {name}(self', text, test)
