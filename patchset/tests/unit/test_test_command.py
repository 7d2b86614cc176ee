# SPDX-License-Identifier: Apache-2.0

"""What ./ks test makes of its words, and how it ends."""

import contextlib
import io
import sys
import threading
import types

import fixtures
import testtools

from patchset import __main__ as command_line
from patchset import errors
from patchset import pins
from patchset import series
from patchset.commands import test
from patchset.test_parts import results


class SplitTestCase(testtools.TestCase):
    def test_no_word(self):
        self.assertEqual((list(test.DEFAULT), None), test.split([]))

    def test_parts(self):
        self.assertEqual(
            (['docs', 'unit'], None), test.split(['docs', 'unit', 'docs'])
        )

    def test_an_expression_leaves_out_what_it_cannot_narrow(self):
        parts, expression = test.split(['test_tree'])
        self.assertEqual('test_tree', expression)
        self.assertNotIn('lint', parts)
        self.assertIn('unit', parts)

    def test_parts_and_expressions(self):
        self.assertEqual(
            (['unit', 'smoke'], 'test_a|test_b'),
            test.split(['unit', 'test_a', 'smoke', 'test_b']),
        )

    def test_a_malformed_expression(self):
        error = self.assertRaises(errors.UsageError, test.split, ['uni('])
        self.assertIn("'uni('", str(error))

    def test_stock(self):
        parts, _ = test.split([], test.STOCK)
        self.assertEqual(['areas', 'smoke'], parts)


class RunTestCase(testtools.TestCase):
    """The whole command, with parts of which the outcome is known."""

    def setUp(self):
        super().setUp()
        # Its signal handlers are not for the process that runs the tests.
        self.useFixture(
            fixtures.MonkeyPatch('patchset.stopping.in_order', lambda: None)
        )

    def part(self, name, outcome, work=lambda: None):
        def run(options):
            work()
            if isinstance(outcome, Exception):
                raise outcome
            return outcome

        module = types.ModuleType(name, f'The {name}.')
        module.run = run
        module.PACKAGES = ()
        self.useFixture(
            fixtures.MonkeyPatch(
                'sys.modules',
                {**sys.modules, f'patchset.test_parts.{name}': module},
            )
        )

    def run_command(self, *words):
        args = command_line.parse(['test', *words])
        output = io.StringIO()
        with contextlib.redirect_stdout(output):
            code = args.run(args)
        return code, output.getvalue().splitlines()

    def test_sum(self):
        self.part('unit', results.Result(3, 0, 1))
        self.part('smoke', results.Result(2))
        code, lines = self.run_command('unit', 'smoke')
        self.assertEqual(0, code)
        self.assertEqual('5 passed, 0 failed, 1 skipped', lines[-1])
        self.assertIn('== unit (1 of 2): The unit.', lines)

    def test_no_silence(self):
        self.useFixture(
            fixtures.MonkeyPatch('patchset.progress.SILENCE', 0.05)
        )
        silence = threading.Event()
        self.part('unit', results.Result(1), lambda: silence.wait(0.5))
        said = io.StringIO()
        with contextlib.redirect_stderr(said):
            self.run_command('unit')
        self.assertIn('unit (1 of 1) still running\n', said.getvalue())

    def test_a_failure(self):
        self.part('unit', results.Result(3, 1))
        self.part('smoke', results.Result(2))
        code, lines = self.run_command('unit', 'smoke')
        self.assertEqual(1, code)
        self.assertEqual('5 passed, 1 failed', lines[-1])

    def test_an_error_is_a_failure_and_the_rest_runs(self):
        self.part('unit', errors.Error('no server'))
        self.part('smoke', results.Result(2))
        code, lines = self.run_command('unit', 'smoke')
        self.assertEqual(1, code)
        self.assertIn('no server', lines)
        self.assertEqual('2 passed, 1 failed', lines[-1])

    def test_a_missing_program_is_none(self):
        self.part('unit', errors.NotInstalled('no server'))
        self.assertRaises(errors.NotInstalled, self.run_command, 'unit')

    def test_a_part_without_a_test_is_a_failure(self):
        self.part('unit', results.Result())
        code, lines = self.run_command('unit')
        self.assertEqual(1, code)
        self.assertEqual('0 passed, 1 failed', lines[-1])

    def test_but_not_where_an_expression_narrowed_it(self):
        self.part('unit', results.Result())
        self.part('smoke', results.Result(2))
        code, lines = self.run_command('unit', 'smoke', 'tokens')
        self.assertEqual(0, code)
        self.assertIn('unit: no test matches tokens', lines)
        self.assertEqual('2 passed, 0 failed', lines[-1])

    def test_an_expression_that_nothing_matches(self):
        self.part('unit', results.Result())
        code, lines = self.run_command('unit', 'tokens')
        self.assertEqual(1, code)
        self.assertEqual('0 passed, 0 failed', lines[-1])

    def test_a_part_that_stock_does_not_have(self):
        for part in test.PARTS:
            self.part(part, results.Result(1))
            if part in (
                'areas',
                'smoke',
                'upstream',
                'tempest',
                'foreign',
                *test.NO_TESTS,
            ):
                self.assertEqual(0, self.run_command('--stock', part)[0])
                continue
            error = self.assertRaises(
                errors.UsageError, self.run_command, '--stock', part
            )
            self.assertIn(part, str(error))

    def test_numbers_that_make_no_sense(self):
        for option in ('--concurrency', '--seconds', '--seed'):
            for number in ('0', '-1', 'x'):
                self.assertRaises(
                    SystemExit, self.run_command, 'walk', option, number
                )

    def test_record_is_for_whole_stock_runs(self):
        for words in (
            ['--record'],
            ['--record', 'upstream'],
            ['--record', '--stock', 'smoke'],
            ['--record', '--stock', 'upstream', 'test_revoke'],
        ):
            self.assertRaises(errors.UsageError, self.run_command, *words)

    def test_topics_are_for_parts_that_take_them_one_by_one(self):
        name = series.load(pins.newest())[0].name
        self.part('commits', results.Result(1))
        code, _ = self.run_command('commits', '--topic', name)
        self.assertEqual(0, code)
        for words in (
            ['--topic', name],
            ['--topic', name, 'commits', 'unit'],
            ['--topic', 'dreams', 'commits'],
        ):
            self.assertRaises(errors.UsageError, self.run_command, *words)

    def test_database_url_is_for_integration(self):
        self.part('integration', results.Result(1))
        url = 'cockroachdb+psycopg2://root@h:26257/defaultdb'
        code, _ = self.run_command('integration', '--database-url', url)
        self.assertEqual(0, code)
        for words in (
            ['unit', '--database-url', url],
            ['integration', '--database-url', 'sqlite:////tmp/k.db'],
            ['integration', '--database-url', 'oracle://u:p@h/k'],
        ):
            self.assertRaises(errors.UsageError, self.run_command, *words)

    def test_release(self):
        self.part('unit', results.Result(1))
        code, _ = self.run_command('unit', '--release', pins.newest())
        self.assertEqual(0, code)
        self.assertRaises(
            errors.UsageError, self.run_command, 'unit', '--release', '1999.1'
        )
