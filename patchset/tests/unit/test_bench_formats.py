# SPDX-License-Identifier: Apache-2.0

"""Tests of the measurement of the formats of tokens."""

import testtools

from bench import formats
from bench import runs


class PointsTestCase(testtools.TestCase):
    def setUp(self):
        super().setUp()
        rates = {'stock': (200, 100), 'patched': (400, 150)}
        found = runs.Runs('format', 'what', 'clients')
        for name in formats.FORMATS:
            for what, clients in formats.LOADS:
                found.measured[name, what, clients] = {
                    side: [
                        {'rate': clients * rate, 'p50': 5, 'p99': 9}
                        for rate in values
                    ]
                    for side, values in rates.items()
                }
        self.points = formats.points(found)

    def test_each_format_and_load(self):
        self.assertEqual(
            [
                (name, *load)
                for name in formats.FORMATS
                for load in formats.LOADS
            ],
            [
                (one['format'], one['what'], one['clients'])
                for one in self.points
            ],
        )

    def test_each_client_waits_for_its_answers(self):
        for point in self.points:
            self.assertEqual(6.67, point['stock']['ms'])

    def test_ratio_is_that_of_the_rounds(self):
        self.assertEqual(1.75, self.points[0]['ratio'])
        self.assertEqual([1.5, 2], self.points[0]['ratio_spread'])

    def test_text(self):
        lines = formats.text(self.points).splitlines()
        self.assertRegex(
            lines[-1],
            r'^jws +validate +4 +patched +1100.0 +1.75 .* 3.64 +5 +9 +2$',
        )
