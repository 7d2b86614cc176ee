# SPDX-License-Identifier: Apache-2.0

"""Tests of the measurement of many tokens in turns."""

import testtools

from bench import rotation
from bench import runs


def _run(rate):
    return {'rate': rate, 'p50': 1, 'p99': 2, 'requests': rate}


class PointsTestCase(testtools.TestCase):
    def setUp(self):
        super().setUp()
        found = runs.Runs('kind', 'tokens')
        found.measured['quiet', 2000] = {
            'stock': [_run(100), _run(50)],
            'patched': [_run(1000), _run(1000)],
        }
        found.measured['changing', 2000] = {
            'stock': [_run(40), _run(20)],
            'patched': [_run(800), _run(600)],
        }
        self.points = found.points()

    def test_ratio_is_that_of_the_rounds(self):
        quiet, changing = self.points
        self.assertEqual('quiet', quiet['kind'])
        self.assertEqual(
            (15, [10, 20]), (quiet['ratio'], quiet['ratio_spread'])
        )
        self.assertEqual(25, changing['ratio'])
        self.assertEqual(700, changing['patched']['rate'])

    def test_text(self):
        lines = rotation.text(self.points).splitlines()
        self.assertEqual(6, len(lines))
        self.assertRegex(
            lines[3], r'^quiet +2000 +patched +1000.* 15.00 +10.00..20.00 '
        )
