# SPDX-License-Identifier: Apache-2.0

"""Tests of the measurement of one warm token."""

import testtools

from bench import warm


def _run(rate, p99):
    return {'rate': rate, 'p50': 1, 'p99': p99, 'requests': rate}


class PointsTestCase(testtools.TestCase):
    def setUp(self):
        super().setUp()
        rates = {
            ('offered', 1): {'stock': (100, 20), 'patched': (100, 2)},
            ('validate', 1): {'stock': (300, 80), 'patched': (6000, 4)},
            ('version', 1): {'stock': (3000, 9), 'patched': (3300, 8)},
            ('validate', 300): {'stock': (200, 90), 'patched': (5000, 5)},
        }
        found = warm.new_runs((1, 300))
        for about, of in rates.items():
            for side, one in of.items():
                found.measured[about][side] = [_run(*one)]
        self.points = found.points()

    def test_order_and_ratios(self):
        self.assertEqual(
            [
                ('validate', 1, 20),
                ('validate', 300, 25),
                ('version', 1, 1.1),
                ('offered', 1, 1),
            ],
            [
                (one['load'], one['endpoints'], one['ratio'])
                for one in self.points
            ],
        )

    def test_text(self):
        lines = warm.text(self.points).splitlines()
        self.assertEqual(10, len(lines))
        self.assertRegex(lines[-1], r'^offered +1 +patched +100.* 2\.0 +1$')
