# SPDX-License-Identifier: Apache-2.0

"""Tests of the measurement of validations beside writes."""

import testtools

from bench import living
from bench import plan
from bench import runs
from patchset.tests.unit import test_commands


def _run(rate, written=0.0):
    return {
        'rate': rate,
        'p50': 1.2,
        'p99': 8.5,
        'requests': rate,
        'written': written,
        'write_p50': 30 if written else None,
        'writer_cpu': 0,
    }


class PointsTestCase(testtools.TestCase):
    def setUp(self):
        super().setUp()
        found = runs.Runs('case', 'pace')
        found.measured['users', 'quiet'] = {
            'stock': [_run(200), _run(100)],
            'patched': [_run(2000), _run(2000)],
        }
        found.measured['users', '5/s'] = {
            'stock': [_run(100, 4.9), _run(40, 4.9)],
            'patched': [_run(1800, 4.9), _run(1600, 4.9)],
        }
        self.points = living.points(found)

    def test_against_quiet_and_against_stock_of_the_round(self):
        quiet, busy = self.points
        self.assertEqual(('users', 'quiet'), (quiet['case'], quiet['pace']))
        self.assertEqual(
            (15, [10, 20]), (quiet['ratio'], quiet['ratio_spread'])
        )
        self.assertEqual(('5/s', 29), (busy['pace'], busy['ratio']))
        self.assertEqual(0.45, busy['stock']['of_own_0'])
        self.assertEqual(0.85, busy['patched']['of_own_0'])
        self.assertEqual(4.9, busy['patched']['written'])
        self.assertIsNone(quiet['patched']['write_p50'])

    def test_text(self):
        lines = living.text(self.points).splitlines()
        self.assertEqual(6, len(lines))
        self.assertRegex(
            lines[5],
            r'^users +5/s +patched +4.90 +1700.0 +29.00 +18.00..40.00 '
            r'+85.0 % +80.0..90.0 +8.5 +30 +2$',
        )


class PacesTestCase(testtools.TestCase):
    def test_own_loops_have_no_pace(self):
        chosen = plan.Plan(pin=None, scale='full')
        self.assertEqual(('loop',), living.paces_of('own-ec2', chosen))
        self.assertEqual((0.2, 1, 5), living.paces_of('users', chosen))

    def test_asked_for(self):
        chosen = plan.Plan(pin=None, scale='full', rates=(3.0,))
        self.assertEqual((3.0,), living.paces_of('users', chosen))
        self.assertEqual('3/s', living.pace_name(3.0))


class CommandTestCase(testtools.TestCase):
    def refused(self, *words):
        code, text = test_commands.run('bench', *words)
        self.assertEqual(2, code)
        return text

    def test_cases_are_those_of_the_experiment(self):
        text = self.refused('living', '--case', 'dreams')
        self.assertIn('living has no case dreams; its cases are: grants', text)
        text = self.refused('warm', '--case', 'users')
        self.assertIn('warm has no case users; its cases are: none', text)

    def test_rates_are_of_living(self):
        text = self.refused('warm', '--rate', '5')
        self.assertIn('--rate requires living', text)
        self.assertIn('not between', self.refused('living', '--rate', '0'))
