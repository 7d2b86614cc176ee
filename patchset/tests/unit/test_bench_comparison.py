# SPDX-License-Identifier: Apache-2.0

import json
import pathlib

import fixtures
import testtools

from bench import comparison
from patchset import errors
from patchset.commands import bench
from patchset.tests.unit import test_commands


def _point(ratio=None, **sides):
    return {
        **({} if ratio is None else {'ratio': ratio}),
        **{side: {'of_own_0': share} for side, share in sides.items()},
    }


class RatiosTestCase(testtools.TestCase):
    def test_by_stock_where_there_is_such(self):
        point = {'load': 'rescope', 'endpoints': 300}
        points = [{**point, **_point(3.5, stock=0.2, patched=0.9)}]
        self.assertEqual(
            {('load rescope endpoints 300', 'both'): 3.5},
            comparison.ratios({'points': points}),
        )

    def test_sides_by_themselves(self):
        points = [
            {'events': 0, **_point(stock=1, patched=1)},
            {'events': 10, **_point(stock=0.2, patched=0.9)},
            {'what': 'pruning', 'p99_ratio': 1.2},
        ]
        self.assertEqual(
            {('events 10', 'stock'): 0.2, ('events 10', 'patched'): 0.9},
            comparison.ratios({'points': points}),
        )

    def test_stock_is_no_ratio_of_itself(self):
        point = {
            'kind': 's3tokens',
            'stock': {'of_stock': 1},
            'patched': {'of_stock': 3.7},
        }
        self.assertEqual(
            {('kind s3tokens', 'patched'): 3.7},
            comparison.ratios({'points': [point]}),
        )


class CompareTestCase(testtools.TestCase):
    def setUp(self):
        super().setUp()
        self.folders = [
            pathlib.Path(self.useFixture(fixtures.TempDir()).path)
            for _ in range(2)
        ]

    def put(self, folder, experiment, steal=0, **ratios):
        points = [{'what': name, 'ratio': one} for name, one in ratios.items()]
        path = self.folders[folder] / f'{experiment}-2026.2-small.json'
        path.write_text(
            json.dumps(
                {'experiment': experiment, 'steal': steal, 'points': points}
            )
        )

    def test_what_both_have(self):
        self.put(0, 'tokens', create=1.2, validate=20)
        self.put(1, 'tokens', create=1.3)
        self.put(0, 'rally', users=1.5)
        rows = comparison.compare(*self.folders)
        self.assertEqual(
            [('tokens', 'what create', 'both', 1.2, 1.3, 0)], rows
        )

    def test_text(self):
        self.put(0, 'tokens', create=1, validate=20)
        self.put(1, 'tokens', create=1.2, validate=18)
        self.put(0, 's3', steal=0.3, ec2tokens=2)
        self.put(1, 's3', steal=0.01, ec2tokens=2)
        lines = comparison.text(comparison.compare(*self.folders)).splitlines()
        for number, pattern in enumerate(
            (
                r' what create .* 1.00 +1.20 +20% +0%$',
                r' what validate .* 20.00 +18.00 +11% +0%$',
                r' what ec2tokens .* 2.00 +2.00 +0% +30%$',
            ),
            2,
        ):
            self.assertRegex(lines[number], pattern)
        self.assertEqual(
            '2 of 3 ratios within 15% of each other; where less than 2% of '
            'the time was stolen from both runs, 1 of 2',
            lines[-1],
        )

    def test_nothing_is_far_from_something(self):
        self.assertEqual(float('inf'), comparison.difference(0, 0.1))
        self.assertEqual(0, comparison.difference(0, 0))

    def test_nothing_in_common(self):
        self.put(0, 'tokens', create=1)
        error = self.assertRaises(errors.Error, bench.compare, *self.folders)
        self.assertIn('have no ratio in common', str(error))

    def test_two_folders_are_needed(self):
        for words in (['compare'], ['s3', '--with', 'elsewhere']):
            code, text = test_commands.run('bench', *words)
            self.assertEqual(2, code)
            self.assertIn('compare and --with require each other', text)
