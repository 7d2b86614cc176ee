# SPDX-License-Identifier: Apache-2.0

"""What passes on stock has to pass on the patched tree."""

import pathlib

import fixtures
import testtools

from patchset import errors
from patchset import pins
from patchset import test_parts
from patchset.test_parts import baseline
from patchset.test_parts import results


def report(ids=(), passed=(), failed=(), skipped=()):
    made = results.Report(frozenset(ids))
    for status, tests in (
        ('success', passed),
        ('fail', failed),
        ('skip', skipped),
    ):
        for test in tests:
            made.add(test, status, 'why')
    return made


class BaselineTestCase(testtools.TestCase):
    def setUp(self):
        super().setUp()
        self.pin = pins.load(pins.newest())
        root = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        (root / 'patches' / self.pin.release).mkdir(parents=True)
        for name, path in (('ROOT', root), ('PATCHES', root / 'patches')):
            self.useFixture(
                fixtures.MonkeyPatch(f'patchset.paths.{name}', path)
            )
        self.said = []
        self.useFixture(
            fixtures.MonkeyPatch('patchset.progress.say', self.said.append)
        )
        self.on_stock = None  # nothing of it runs

    def record(self, **tests):
        baseline.record(self.pin, 'some', report(**tests))

    def compare(self, ids, **tests):
        return baseline.judge(
            test_parts.Options(self.pin), 'some', report(ids, **tests),
            self.on_stock,
        )  # fmt: skip

    def test_what_is_recorded_is_read(self):
        self.record(passed=['a.b', 'a.c'], skipped=['a.d', 'setUpClass (e.F)'])
        self.assertEqual(
            {'a.d', 'setUpClass (e.F)'}, baseline.load(self.pin, 'some')
        )

    def test_the_same_as_stock(self):
        self.record(passed=['a.b'], skipped=['a.c'])
        result = self.compare(['a.b', 'a.c'], passed=['a.b'], skipped=['a.c'])
        self.assertEqual(results.Result(1, 0, 1), result)
        self.assertEqual([], self.said)

    def test_more_than_stock(self):
        self.record(passed=['a.b'], skipped=['a.c'])
        result = self.compare(['a.b', 'a.c'], passed=['a.b', 'a.c', 'ours.d'])
        self.assertEqual(results.Result(3), result)

    def test_a_test_that_fails(self):
        self.record(passed=['a.b', 'a.c'])
        result = self.compare(['a.b', 'a.c'], passed=['a.b'], failed=['a.c'])
        self.assertEqual(results.Result(1, 1), result)

    def test_a_test_that_skips(self):
        self.record(passed=['a.b', 'a.c'])
        result = self.compare(['a.b', 'a.c'], passed=['a.b'], skipped=['a.c'])
        self.assertEqual(results.Result(1, 1), result)
        self.assertIn('FAILED a.c', *self.said)
        self.assertIn('skips here: why', *self.said)

    def test_a_test_that_is_gone(self):
        self.record(passed=['a.b', 'a.c'])
        result = self.compare(['a.b', 'a.c'], passed=['a.b'])
        self.assertEqual(results.Result(1, 1), result)
        self.assertIn('FAILED a.c', *self.said)

    def test_a_class_that_skips_on_stock(self):
        self.record(passed=['a.B.c'], skipped=['setUpClass (a.D)'])
        ids = ['a.B.c', 'a.D.e[id-1,smoke]', 'a.D.f']
        result = self.compare(
            ids, passed=['a.B.c'], skipped=['setUpClass (a.D)']
        )
        self.assertEqual(results.Result(1, 0, 1), result)

    def test_a_class_that_skips_only_here(self):
        self.record(passed=['a.B.c', 'a.D.e[id-1,smoke]', 'a.D.f'])
        ids = ['a.B.c', 'a.D.e[id-1,smoke]', 'a.D.f']
        result = self.compare(
            ids, passed=['a.B.c'], skipped=['setUpClass (a.D)']
        )
        self.assertEqual(2, result.failed)
        self.assertEqual(1, result.passed)

    def test_without_a_baseline_stock_runs_the_rest(self):
        asked = []

        def on_stock(stock, tests):
            self.assertTrue(stock.stock)
            asked.append(tests)
            return report(passed=['a.c'], failed=['a.e'], skipped=['a.d'])

        self.on_stock = on_stock
        skipped = ['a.c', 'a.d', 'a.e']
        result = self.compare(
            ['a.b', *skipped], passed=['a.b'], skipped=skipped
        )
        self.assertEqual([set(skipped)], asked)
        self.assertEqual(results.Result(1, 1, 2), result)
        self.assertIn('FAILED a.c', self.said[-1])

    def test_without_a_baseline_and_nothing_left(self):
        self.assertEqual(
            results.Result(1), self.compare(['a.b'], passed=['a.b'])
        )

    def test_a_stock_run_with_failures_is_not_recorded(self):
        error = self.assertRaises(
            errors.Error, self.record, passed=['a.b'], failed=['a.c']
        )
        self.assertIn('1 tests of some failed', str(error))
        self.assertFalse(baseline.path(self.pin, 'some').exists())
