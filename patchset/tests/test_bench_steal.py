# SPDX-License-Identifier: Apache-2.0

import dataclasses

import testtools

from bench import load
from bench import steal
from patchset import errors

# Of four seconds on two processors.
_BEFORE = 'cpu  100 10 50 9000 30 2 8 500 5 0\ncpu0 1 1 1 1 1 1 1 1 0 0\n'
_AFTER = 'cpu  300 20 100 9200 40 4 36 800 5 0\ncpu0 9 9 9 9 9 9 9 9 0 0\n'


class ShareTestCase(testtools.TestCase):
    def test_spent(self):
        tick = steal._TICK
        busy, stolen = steal.spent(_BEFORE)
        self.assertAlmostEqual(170 * tick, busy)
        self.assertAlmostEqual(500 * tick, stolen)

    def test_all_processors_were_wanted(self):
        self.assertAlmostEqual(0.25, steal.share(6, 2, 4))

    def test_one_was_wanted_at_a_time(self):
        # The other one idled; each second that was stolen was waited for.
        self.assertAlmostEqual(0.5, steal.share(2, 2, 4))

    def test_the_answer_came_from_elsewhere(self):
        self.assertAlmostEqual(0.1, steal.share(0.5, 0.4, 4))

    def test_something_is_left(self):
        self.assertEqual(0.99, steal.share(0, 8, 4))
        self.assertEqual(0, steal.share(0, 0, 0))


class ExcludedTestCase(testtools.TestCase):
    def setUp(self):
        super().setUp()
        texts = iter([_BEFORE, _AFTER] * 9)

        class Stat:
            def read_text(self):
                return next(texts)

        self.patch(steal, '_STAT', Stat())
        self.calls = 0

    def measure(self, failures, again=()):
        @steal.excluded(again=again)
        def measured():
            self.calls += 1
            if self.calls <= failures:
                raise load.NothingAnswered
            return load.Measure(rate=51, p50=1, p99=2, requests=3)

        return measured()

    def test_rate_is_of_the_time_that_was_left(self):
        # 2.9 seconds were used, 3 stolen.
        self.assertEqual(
            load.Measure(rate=103.759, p50=1, p99=2, requests=3, steal=0.508),
            self.measure(0),
        )

    def test_nothing_answered_is_tried_again(self):
        found = self.measure(2, again=load.NothingAnswered)
        self.assertEqual(3, self.calls)
        self.assertEqual(0.508, dataclasses.asdict(found)['steal'])

    def test_never_answered(self):
        self.assertRaises(
            load.NothingAnswered, self.measure, 99, again=load.NothingAnswered
        )
        self.assertEqual(5, self.calls)

    def test_other_errors_are_not(self):
        self.assertRaises(errors.Error, self.measure, 1)
        self.assertEqual(1, self.calls)
