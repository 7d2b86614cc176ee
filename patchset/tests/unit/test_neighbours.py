# SPDX-License-Identifier: Apache-2.0

"""Tests of conflicts that are about neighbouring lines."""

import pathlib

import fixtures
import testtools

from patchset import errors
from patchset import export
from patchset import git

_BEFORE = ['import a', 'import c', 'import e', '', 'a.one()', 'c.two()']


class NeighboursTestCase(testtools.TestCase):
    """One commit is taken from behind another, without that one."""

    def setUp(self):
        super().setUp()
        self.tree = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        git.git(self.tree, 'init', '--quiet')
        self.commit(_BEFORE)
        git.git(self.tree, 'tag', 'base')

    def commit(self, lines, name='module.py'):
        (self.tree / name).write_text(''.join(f'{one}\n' for one in lines))
        git.git(self.tree, 'add', '--all')
        git.commit(self.tree, 'Change it')

    def changed(self, **replaced):
        """The lines, with some replaced by others: l1 is the second one."""
        return [
            line
            for number, old in enumerate(_BEFORE)
            for line in replaced.get(f'l{number}', [old])
        ]

    def take(self, first, second):
        """What the second change makes of the module without the first."""
        self.commit(first)
        self.commit(second)
        last = git.git(self.tree, 'rev-parse', 'HEAD').strip()
        git.git(self.tree, 'checkout', '--quiet', 'base')
        self.assertRaises(
            errors.Error,
            git.git, self.tree, '-c', 'merge.conflictStyle=diff3',
            'cherry-pick', '--no-commit', last,
        )  # fmt: skip
        export.settle(self.tree)
        self.assertEqual(
            '', git.git(self.tree, 'ls-files', '--unmerged').strip()
        )
        return (self.tree / 'module.py').read_text().splitlines()

    def test_line_behind_one_that_is_missing(self):
        self.assertEqual(
            self.changed(l0=['import a', 'import bb']),
            self.take(
                self.changed(l0=['import a', 'import b']),
                self.changed(l0=['import a', 'import b', 'import bb']),
            ),
        )

    def test_line_before_one_that_is_missing(self):
        self.assertEqual(
            self.changed(l0=['import a', 'import aa']),
            self.take(
                self.changed(l0=['import a', 'import b']),
                self.changed(l0=['import a', 'import aa', 'import b']),
            ),
        )

    def test_line_beside_one_that_is_still_there(self):
        self.assertEqual(
            self.changed(l4=['a.one()', 'b.three()']),
            self.take(
                self.changed(l5=[]),
                self.changed(l4=['a.one()', 'b.three()'], l5=[]),
            ),
        )

    def test_line_replaced_beside_one_that_is_missing(self):
        self.assertEqual(
            self.changed(l1=['import d']),
            self.take(
                self.changed(l0=['import a', 'import b']),
                self.changed(l0=['import a', 'import b'], l1=['import d']),
            ),
        )

    def test_change_of_a_line_that_is_missing(self):
        self.assertRaises(
            errors.Error,
            self.take,
            self.changed(l4=['b.one()']),
            self.changed(l4=['b.three()']),
        )

    def test_line_removed_that_is_missing(self):
        self.assertRaises(
            errors.Error,
            self.take,
            self.changed(l0=['import a', 'import b']),
            self.changed(l0=['import aa']),
        )
