# SPDX-License-Identifier: Apache-2.0

"""Tests of the command line."""

import contextlib
import io

import testtools

from patchset import __main__ as command_line
from patchset.commands import python
from patchset.tests.unit import base


def run(*words):
    """Run a command; return its exit code and what it printed."""
    printed = io.StringIO()
    with (
        contextlib.redirect_stdout(printed),
        contextlib.redirect_stderr(printed),
    ):
        try:
            code = command_line.main(list(words))
        except SystemExit as stopped:
            code = stopped.code
    return code, printed.getvalue()


class HelpTestCase(testtools.TestCase):
    def test_each_command_explains_itself(self):
        code, text = run('--help')
        self.assertEqual(0, code)
        names = command_line.parser()._subparsers._group_actions[0].choices
        for name in names:
            self.assertIn(f'\n    {name}', text)
            code, one = run(name, '--help')
            self.assertEqual(0, code)
            self.assertIn('./ks ' + name, one)

    def test_no_command(self):
        code, text = run()
        self.assertEqual(2, code)
        self.assertIn('COMMAND', text)

    def test_unknown_release(self):
        code, text = run('build', '--release', '1999.1')
        self.assertEqual(2, code)
        self.assertIn('ks: error: no release 1999.1; there are: ', text)


class WordsTestCase(testtools.TestCase):
    def test_options_among_words(self):
        args = command_line.parse(
            ['test', 'unit', '--release', '2026.1', 'a test', '--stock']
        )
        self.assertEqual(['unit', 'a test'], args.words)
        self.assertEqual('2026.1', args.release)
        self.assertTrue(args.stock)

    def test_words_that_are_none(self):
        for words in (
            ('test', 'unit', '--release', '2026.1', 'a', '--unknown'),
            ('check', '--release', '2026.1', 'a'),
        ):
            code, text = run(*words)
            self.assertEqual(2, code)
            self.assertIn('unrecognized arguments: a', text)


class PythonArgumentsTestCase(testtools.TestCase):
    def test_own_options_come_first(self):
        for words, expected in (
            ([], []),
            (['--stock'], ['--stock']),
            (['-c', 'x'], ['--', '-c', 'x']),
            (['--stock', '-m', 'y'], ['--stock', '--', '-m', 'y']),
            (
                ['--release', '2026.2', 'a.py', '--stock'],
                ['--release', '2026.2', '--', 'a.py', '--stock'],
            ),
            (['--release=2026.2', '-V'], ['--release=2026.2', '--', '-V']),
            (['--', '--help'], ['--', '--help']),
        ):
            self.assertEqual(expected, python.split(words))


class PythonCommandTestCase(base.RepositoryTestCase):
    def test_patched_and_stock_are_importable(self):
        self.few()
        show = 'import keystone; print(keystone.__file__)'
        patched = self.ks('python', '-c', show)
        self.assertEqual(0, patched.returncode, patched.stderr)
        self.assertIn(f'/build/{self.pin.release}/keystone/', patched.stdout)
        stock = self.ks('python', '--stock', '-c', show)
        self.assertIn(f'/keystone-{self.pin.version}/keystone/', stock.stdout)


class ExportCommandTestCase(base.RepositoryTestCase):
    def test_paths_are_printed(self):
        self.few()
        done = self.ks('export', '--output', str(self.root / 'out'))
        self.assertEqual(0, done.returncode, done.stderr)
        self.assertEqual(len(self.topics()), len(done.stdout.splitlines()))
        self.assertEqual(
            sorted(str(path) for path in (self.root / 'out').iterdir()),
            done.stdout.splitlines(),
        )
