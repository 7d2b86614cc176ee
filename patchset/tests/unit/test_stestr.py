# SPDX-License-Identifier: Apache-2.0

"""Running a real, small suite with the real stestr."""

import functools
import os
import pathlib
import signal
import subprocess
import sys
import time

import fixtures
import testtools

from patchset import errors
from patchset import progress
from patchset.test_parts import results
from patchset.test_parts import stestr
from patchset.tests.unit import processes
from patchset.tests.unit import suites

_SUITE = """
import os
import unittest

import testtools


class Kinds(unittest.TestCase):
    def test_passes(self):
        print('words of a test')

    def test_fails(self):
        self.assertEqual(1, 2)

    @unittest.skip('not today')
    def test_skips(self):
        pass

    @unittest.expectedFailure
    def test_fails_as_it_should(self):
        self.fail()

    @unittest.expectedFailure
    def test_passes_where_it_should_not(self):
        pass


class Shared(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        raise unittest.SkipTest('no cloud')

    def test_one(self):
        pass


class Log(testtools.TestCase):
    def test_logs_and_fails(self):
        words = '\\n'.join(f'line {number}.' for number in range(99))
        self.addDetail('log', testtools.content.text_content(words))
        self.fail('after 99 lines')

    def test_logs_and_skips(self):
        self.addDetail('log', testtools.content.text_content('a line'))
        self.skipTest('after a line')


class Variables(unittest.TestCase):
    def test_variables(self):
        self.assertEqual('blue', os.environ['COLOUR'])
        self.assertNotIn('OS_CLOUD', os.environ)
"""
_SLOW = """
import os
import pathlib
import time
import unittest


class Slow(unittest.TestCase):
    def test_takes_long(self):
        pathlib.Path(os.environ['MARK']).write_text(str(os.getpid()))
        time.sleep(300)
"""
# What ./ks test does with a suite and with signals.
_PROGRAM = """
import os
import pathlib
import sys

from patchset import stopping
from patchset.test_parts import stestr
from patchset.tests.unit import suites

stopping.in_order()
stestr.Suite(
    'slow', suites.Here, pathlib.Path(sys.argv[1]), folder='small'
).run('takes_long')
"""
_CRASH = """
import os
import unittest


class Crash(unittest.TestCase):
    def test_a_process_ends(self):
        os._exit(7)
"""
_ORDER = """
import pathlib
import time
import unittest


class Alone(unittest.TestCase):
    word, seconds = 'alone', 0

    def test_one(self):
        time.sleep(self.seconds)
        with pathlib.Path('order').open('a') as order:
            order.write(f'{self.word} ')

    test_two = test_one


class Beside(Alone):
    word, seconds = 'beside', 0.5
"""


class SuiteTestCase(suites.SuiteTestCase):
    def setUp(self):
        super().setUp()
        self.write('small/test_kinds.py', _SUITE)

    def test_what_one_process_finds(self):
        suite = self.suite()
        report = suite.run()
        self.assert_each_kind_counts(report)
        self.assert_tracebacks_are_said_once()
        self.assertIn('words of a test', suite.log.read_text())
        self.assertIn('line 0.\n', suite.log.read_text())

    def test_what_two_processes_find_and_leave(self):
        folder = self.useFixture(fixtures.TempDir()).path
        self.useFixture(fixtures.MonkeyPatch('tempfile.tempdir', folder))
        before = sorted(self.tree.rglob('*'))
        report = self.suite(quiet=True).run(concurrency=2)
        self.assert_each_kind_counts(report)
        self.assertEqual([], self.said)
        self.suite().ids()
        self.assertEqual(before, sorted(self.tree.rglob('*')))
        self.assertEqual([], os.listdir(folder))

    def assert_each_kind_counts(self, report):
        self.assertEqual(results.Result(3, 3, 3), report.result)
        kinds = 'small.test_kinds.Kinds'
        self.assertEqual(
            {
                f'{kinds}.test_fails',
                f'{kinds}.test_passes_where_it_should_not',
                'small.test_kinds.Log.test_logs_and_fails',
            },
            report.failed.keys(),
        )
        self.assertIn('1 != 2', report.failed[f'{kinds}.test_fails'])
        self.assertEqual(
            {
                f'{kinds}.test_skips': 'not today',
                'small.test_kinds.Log.test_logs_and_skips': 'after a line',
                'setUpClass (small.test_kinds.Shared)': 'no cloud',
            },
            report.skipped,
        )

    def assert_tracebacks_are_said_once(self):
        self.assertEqual(3, len(self.said))
        said = '\n'.join(self.said)
        self.assertIn('FAILED small.test_kinds.Kinds.test_fails', said)
        self.assertIn('AssertionError: 1 != 2', said)
        self.assertIn('AssertionError: after 99 lines\n', said)
        # A long log is cut.
        self.assertIn('log, 99 lines; the last ones:\nline 79.\n', said)
        self.assertIn('line 98.\n', said)
        self.assertNotIn('line 78.', said)

    def test_a_process_that_ends_is_a_failure(self):
        self.write('small/test_crash.py', _CRASH)
        report = self.suite().run(concurrency=2)
        self.assertIn(
            'small.test_crash.Crash.test_a_process_ends', report.failed
        )

    def test_an_expression_narrows(self):
        report = self.suite().run(stestr.both('Kinds', None, 'passes$'))
        self.assertEqual({'small.test_kinds.Kinds.test_passes'}, report.passed)
        self.assertEqual(1, report.result.total)

    def test_one_that_runs_alone_is_the_last(self):
        self.write('small/test_order.py', _ORDER)
        suite = self.suite(modules=['small.test_order'], alone='Alone')
        for ids in ((), suite.ids()):
            report = suite.run(concurrency=2, ids=ids)
            self.assertEqual(results.Result(4), report.result)
            order = (self.tree / 'order').read_text().split()
            self.assertEqual(['beside'] * 2 + ['alone'] * 2, order)
            self.assertEqual(2, suite.log.read_text().count('slowest'))
            (self.tree / 'order').unlink()

    def test_no_match_runs_nothing(self):
        for concurrency in (1, 2):
            report = self.suite().run('nonsense', concurrency=concurrency)
            self.assertEqual(results.Result(), report.result)

    def test_ids(self):
        self.assertEqual(
            {
                'small.test_kinds.Kinds.test_passes',
                'small.test_kinds.Kinds.test_passes_where_it_should_not',
            },
            self.suite().ids(r'\.test_passes'),
        )

    def test_named_modules_are_the_only_ones_imported(self):
        self.write('small/test_broken.py', 'import no_such_module\n')
        report = self.suite(modules=['small.test_kinds']).run()
        self.assertEqual(results.Result(3, 3, 3), report.result)

    def test_a_module_that_does_not_import_is_an_error(self):
        self.write('small/test_broken.py', 'import no_such_module\n')
        for suite in (self.suite(), self.suite(modules=['small.test_broken'])):
            for attempt in (suite.ids, functools.partial(suite.run, 'e')):
                error = self.assertRaises(errors.Error, attempt)
                self.assertIn("No module named 'no_such_module'", str(error))

    def test_progress_has_a_total(self):
        self.useFixture(
            fixtures.MonkeyPatch('patchset.progress.SILENCE', 0.01)
        )
        steps = []
        self.useFixture(
            fixtures.MonkeyPatch('patchset.progress.step', steps.append)
        )
        with progress.no_silence():
            self.suite().run()
        told = '\n'.join(steps)
        self.assertIn('small: loading the tests\n', told)
        self.assertRegex(told, r'small: \d of 9 tests: \d passed, \d failed')


class SignalTestCase(testtools.TestCase):
    def test_a_signal_leaves_nothing_running_and_no_file(self):
        for number, code in ((signal.SIGTERM, 143), (signal.SIGINT, 1)):
            folder = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
            (folder / 'tmp').mkdir()
            (folder / 'tree/small').mkdir(parents=True)
            (folder / 'tree/small/__init__.py').touch()
            (folder / 'tree/small/test_slow.py').write_text(_SLOW)
            mark = folder / 'mark'
            with subprocess.Popen(
                [sys.executable, '-c', _PROGRAM, folder / 'tree'],
                env={
                    **os.environ,
                    'KS_BUILD_DIR': str(folder / 'build'),
                    'TMPDIR': str(folder / 'tmp'),
                    'MARK': str(mark),
                },
                # A shell that runs this in the background ignores Ctrl-C.
                preexec_fn=lambda: signal.signal(
                    signal.SIGINT, signal.SIG_DFL
                ),
                stderr=subprocess.PIPE,
            ) as program:
                while not (mark.exists() and mark.read_text()):
                    self.assertIsNone(program.poll())
                    time.sleep(0.05)
                program.send_signal(number)
                program.communicate()
            self.assertIn(program.returncode, (code, -number))
            # Killed, it may wait for its own parent's death to be known.
            self.assertTrue(processes.ends(mark.read_text()))
            self.assertEqual([], os.listdir(folder / 'tmp'))


class BothTestCase(testtools.TestCase):
    def test_nothing_to_narrow(self):
        self.assertIsNone(stestr.both())
        self.assertIsNone(stestr.both(None, None))

    def test_alternatives_stay_together(self):
        both = stestr.both('a|b', 'c|d')
        self.assertRegex('x.a.d', both)
        self.assertRegex('d.b', both)
        self.assertNotRegex('x.a', both)
        self.assertNotRegex('c.d', both)
