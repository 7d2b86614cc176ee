# SPDX-License-Identifier: Apache-2.0

"""Tests of the measurement of one warm token, and of the steady load."""

import testtools

from bench import offered
from bench import warm
from patchset import errors

_HEAD = (
    'response-time,DNS+dialup,DNS,Request-write,Response-delay,'
    'Response-read,status-code,offset\n'
)


def _row(seconds, status=200):
    return f'{seconds},0.0001,0,0,0.002,0,{status},0.01\n'


def _run(rate, p99):
    return {'rate': rate, 'p50': 1, 'p99': p99, 'requests': rate}


class OfferedTestCase(testtools.TestCase):
    def test_parse(self):
        text = _HEAD + _row(0.0011) + _row(0.0031) + _row(0.0021)

        found = offered.parse(text, 2)

        self.assertEqual((1.5, 3), (found.rate, found.requests))
        self.assertEqual(
            (2.1, 3.1), (found.percentile(50), found.percentile(99))
        )

    def test_refused(self):
        error = self.assertRaises(
            errors.Error, offered.parse, _HEAD + _row(1) + _row(1, 401), 1
        )
        self.assertEqual('1 of 2 requests were refused', str(error))

    def test_no_answer(self):
        error = self.assertRaises(errors.Error, offered.parse, _HEAD, 1)
        self.assertIn('no request was answered', str(error))

    def test_no_table(self):
        for text in ('', 'a\nno such host'):
            error = self.assertRaises(errors.Error, offered.parse, text, 1)
        self.assertIn('no such host', str(error))


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
