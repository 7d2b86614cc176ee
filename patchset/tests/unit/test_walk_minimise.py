# SPDX-License-Identifier: Apache-2.0

"""Finding the shortest list that still fails."""

import random

import testtools

from patchset.test_parts import walk


def _never():
    return False


class ShortestTestCase(testtools.TestCase):
    def setUp(self):
        super().setUp()
        self.tried = 0

    def needs(self, *wanted):
        """A function that tells whether a list has all of these."""

        def fails(items):
            self.tried += 1
            return set(wanted) <= set(items)

        return fails

    def test_one_of_many(self):
        found = walk.shortest(list(range(100)), self.needs(37), _never)
        self.assertEqual([37], found)
        self.assertThat(self.tried, testtools.matchers.LessThan(30))

    def test_several_stay_in_their_order(self):
        for seed in range(50):
            dice = random.Random(seed)
            items = dice.sample(range(1000), 60)
            wanted = dice.sample(items, dice.randrange(1, 6))
            found = walk.shortest(items, self.needs(*wanted), _never)
            self.assertEqual(sorted(wanted, key=items.index), found, seed)

    def test_what_goes_only_together(self):
        # One of a pair without the other does not fail.
        def fails(items):
            return (1 in items) == (2 in items) and 3 in items

        found = walk.shortest(
            [1, 4, 2, 5, 3], fails, _never, [lambda one: one in (1, 2)]
        )
        self.assertEqual([3], found)

    def test_nothing_is_needed(self):
        self.assertEqual([], walk.shortest([1, 2, 3], self.needs(), _never))

    def test_all_is_needed(self):
        self.assertEqual(
            [1, 2, 3], walk.shortest([1, 2, 3], self.needs(1, 2, 3), _never)
        )

    def test_the_best_so_far_when_the_time_is_over(self):
        fails = self.needs(10, 90)
        found = walk.shortest(list(range(100)), fails, lambda: self.tried >= 8)
        self.assertTrue({10, 90} <= set(found))
        self.assertThat(len(found), testtools.matchers.LessThan(100))
        self.assertThat(self.tried, testtools.matchers.LessThan(11))

    def test_no_time_at_all(self):
        self.assertEqual(
            [1, 2], walk.shortest([1, 2], self.needs(1), lambda: True)
        )
