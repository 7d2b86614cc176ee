# SPDX-License-Identifier: Apache-2.0

"""Tests of the measurement of one warm token."""

import testtools

from bench import runs
from bench import warm


def _run(rate, p99):
    return {'rate': rate, 'p50': 1, 'p99': p99, 'requests': rate}


class PointsTestCase(testtools.TestCase):
    def setUp(self):
        super().setUp()
        rates = {
            ('validate', 1): {'stock': (300, 80), 'patched': (6000, 4)},
            ('offered', 1): {'stock': (100, 20), 'patched': (100, 2)},
        }
        results = runs.Runs('load', 'endpoints')
        for values, sides in rates.items():
            results.measured[values] = {
                side: [_run(*one)] for side, one in sides.items()
            }
        self.points = results.points()

    def test_text(self):
        lines = warm.text(self.points).splitlines()
        self.assertEqual(6, len(lines))
        self.assertRegex(lines[-1], r'^offered +1 +patched +100.* 2\.0 +1$')
