# SPDX-License-Identifier: Apache-2.0

"""Tests of the measurement of services that validate tokens."""

import testtools

from bench import population
from bench import runs
from bench import services


def _run(rate, **more):
    traffic = {'gets': 16.0, 'sets': 0.0, 'hits': 15.25}
    return {
        'rate': rate, 'p50': 1.2, 'p99': 8.5, 'requests': rate, **traffic,
        **more,
    }  # fmt: skip


class PointsTestCase(testtools.TestCase):
    def setUp(self):
        super().setUp()
        found = runs.Runs('case', 'where', 'load')
        found.measured.update(
            {
                ('services', '2 processes', 'first service'): {
                    'stock': [_run(100), _run(50)],
                    'patched': [_run(1000), _run(1000)],
                },
                ('middleware', 'no cache', 'one token'): {
                    'stock': [_run(100, refused=0.5), _run(100, refused=0.1)],
                    'patched': [_run(600, refused=0.2), _run(900)],
                },
            }
        )
        medians = (*services.TRAFFIC, 'refused')
        self.points = found.points(medians=medians)

    def test_ratio_is_that_of_the_rounds(self):
        first, behind = self.points
        self.assertEqual('first service', first['load'])
        self.assertEqual(
            (15, [10, 20]), (first['ratio'], first['ratio_spread'])
        )
        self.assertIsNone(first['patched']['refused'])
        self.assertEqual(0.3, behind['stock']['refused'])
        self.assertEqual(0.2, behind['patched']['refused'])

    def test_text(self):
        lines = services.text(self.points).splitlines()
        self.assertEqual(6, len(lines))
        self.assertRegex(
            lines[3],
            r'^services +2 processes +first service +patched +1000.0 +15.00 '
            r'+10.00..20.00 +1.2 +8.5 +16.0 +0.0 +15.2 +- +2$',
        )
        self.assertRegex(lines[5], r' 0.20 +2$')


class PopulationTestCase(testtools.TestCase):
    def test_accounts_take_turns(self):
        self.assertEqual(list('abcab'), population.round_robin('abc', 5))
