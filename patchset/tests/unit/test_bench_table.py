# SPDX-License-Identifier: Apache-2.0

"""Tests of the tables of the measurements."""

import testtools

from bench import table


class TableTestCase(testtools.TestCase):
    def test_small_rates_are_told_apart_from_none(self):
        self.assertEqual('0.038', table.rate(0.0384))
        self.assertEqual('130.4', table.rate(130.38))

    def test_numbers_stand_on_the_right(self):
        self.assertEqual(
            'name  rate\n----  ----\na       10\nbcd   9.50',
            table.render(['name', 'rate'], [['a', 10], ['bcd', '9.50']]),
        )

    def test_a_line_for_each_side(self):
        text = table.of_sides(
            'load', ('size', 'endpoints'), table.SIDE, table.RATE,
            *table.RATIO, ('late', 'refused', '{:.1f}'),
            ('twice', lambda point, side: 2 * point[side]['rate']),
        )  # fmt: skip
        point = {
            'load': 'some', 'endpoints': 300, 'ratio': 4,
            'ratio_spread': [3, 5], 'patched': {'rate': 400, 'refused': 0.25},
            'stock': {'rate': 100, 'refused': None},
        }  # fmt: skip
        self.assertEqual(
            ['some 300 stock 100.0 - - - 200']
            + ['some 300 patched 400.0 4.00 3.00..5.00 0.2 800'],
            [
                ' '.join(line.split())
                for line in text([point]).splitlines()[2:]
            ],
        )
