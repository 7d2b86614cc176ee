# SPDX-License-Identifier: Apache-2.0

import testtools

from bench import steal_time
from patchset import errors

# Of four seconds on two processors.
_BEFORE = 'cpu  100 10 50 9000 30 2 8 500 5 0\ncpu0 1 1 1 1 1 1 1 1 0 0\n'


class ShareTestCase(testtools.TestCase):
    def test_spent(self):
        tick = steal_time._TICK
        busy, stolen = steal_time.cpu_seconds(_BEFORE)
        self.assertAlmostEqual(170 * tick, busy)
        self.assertAlmostEqual(500 * tick, stolen)

    def test_all_processors_were_wanted(self):
        self.assertAlmostEqual(0.25, steal_time.share(6, 2, 4))

    def test_one_was_wanted_at_a_time(self):
        # The other one idled; each second that was stolen was waited for.
        self.assertAlmostEqual(0.5, steal_time.share(2, 2, 4))

    def test_the_answer_came_from_elsewhere(self):
        self.assertAlmostEqual(0.1, steal_time.share(0.5, 0.4, 4))

    def test_no_time(self):
        self.assertEqual(0, steal_time.share(0, 0, 0))


class UndisturbedTestCase(testtools.TestCase):
    """Slices from each of which some of the time is stolen."""

    def measure(self, *slices):
        """Measure with what is stolen from each slice, and whether it fails.

        :returns: what was given, and how many slices it took
        """
        numbers = iter(slices)
        done = []

        class Meter:
            def __enter__(self):
                self.share = 0
                return self

            def __exit__(self, *_):
                self.share = done[-1][0]

        def one():
            done.append(next(numbers))
            if done[-1][1]:
                raise errors.Error('no answer')
            return {'rate': len(done)}

        self.patch(steal_time, 'Meter', Meter)
        return steal_time.measure_undisturbed(one), len(done)

    def test_once_where_little_is_stolen(self):
        self.assertEqual(
            ({'rate': 1, 'steal': 0.01}, 1), self.measure((0.01, False))
        )

    def test_again_where_much_is(self):
        self.assertEqual(
            ({'rate': 2, 'steal': 0}, 2),
            self.measure((0.5, False), (0, False)),
        )

    def test_the_least_disturbed_one_after_some_tries(self):
        self.assertEqual(
            ({'rate': 2, 'steal': 0.2}, 3),
            self.measure((0.5, False), (0.2, False), (0.3, False)),
        )

    def test_no_answer_while_much_is_stolen(self):
        self.assertEqual(
            ({'rate': 2, 'steal': 0.04}, 2),
            self.measure((0.9, True), (0.04, False)),
        )
        self.assertEqual(
            ({'rate': 1, 'steal': 0.4}, 3),
            self.measure((0.4, False), (0.9, True), (0.9, True)),
        )

    def test_never_answered(self):
        for slices in ([(0.9, True)] * 3, [(0, True)]):
            self.assertRaises(errors.Error, self.measure, *slices)
