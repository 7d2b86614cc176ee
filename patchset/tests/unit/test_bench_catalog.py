# SPDX-License-Identifier: Apache-2.0

"""Tests of what the measurements make of catalogs of several sizes."""

import json
import types

import testtools

from bench import catalog
from bench import client
from bench import population
from bench import runs


def _run(rate):
    return {'rate': rate, 'p50': 10, 'p99': 20}


class PointsTestCase(testtools.TestCase):
    def setUp(self):
        super().setUp()
        results, first = runs.Runs('load', 'endpoints'), {}
        for side, size, rates, times in (
            # A machine that is half as fast in the second round.
            ('stock', 1, (100, 50), ([9, 10, 99], [20, 20, 20])),
            ('stock', 300, (20, 10), ([90, 100, 110], [190, 200, 999])),
            ('patched', 1, (120, 60), ([9, 9, 9], [19, 19, 19])),
            ('patched', 300, (90, 48), ([10, 10, 10], [20, 20, 20])),
        ):
            first[side, size] = times
            for name in catalog.LOADS:
                measured = results.measured.setdefault((name, size), {})
                measured[side] = [_run(rate) for rate in rates]
        self.points = catalog.points(results, first)

    def test_each_load_and_size(self):
        self.assertEqual(
            [(name, size) for name in catalog.LOADS for size in (1, 300)],
            [(point['load'], point['endpoints']) for point in self.points],
        )

    def test_ratio_is_that_of_the_rounds(self):
        one, many = self.points[:2]
        self.assertEqual(1.2, one['ratio'])
        self.assertEqual(4.65, many['ratio'])
        self.assertEqual([4.5, 4.8], many['ratio_spread'])

    def test_each_side_against_itself(self):
        many = self.points[1]
        self.assertEqual(0.2, many['stock']['of_own_0'])
        self.assertEqual([0.75, 0.8], many['patched']['of_own_0_spread'])

    def test_first(self):
        one, many = self.points[:2]
        self.assertEqual(15, one['stock']['first'])
        self.assertEqual(150, many['stock']['first'])
        self.assertEqual(15, many['patched']['first'])

    def test_text(self):
        lines = catalog.text(self.points).splitlines()
        self.assertEqual(2 + 2 * len(self.points), len(lines))
        self.assertRegex(
            lines[-1], r'^rescope +300 +patched +69.0 .* 4\.65 .* 15 +2$'
        )


class Side:
    """Notes the statements."""

    def __init__(self):
        self.asked = []

    def query(self, statement):
        self.asked.append(statement)

    def flush_cache(self):
        self.asked.append('flush')


class EndpointsTestCase(testtools.TestCase):
    def test_as_many_services_as_it_takes(self):
        for count, services in ((1, 1), (15, 1), (16, 2), (1000, 67)):
            side = Side()
            population.fill_catalog(side, count)
            self.assertIn(f'FROM seq_1_to_{services};', side.asked[0])
            self.assertTrue(side.asked[0].endswith(f'FROM seq_1_to_{count}'))
            self.assertEqual('flush', side.asked[1])

    def test_projects(self):
        names, granted = iter('ab'), []
        admin = {'user': {'id': 'me'}, 'roles': [{'id': 'admin'}]}
        for name, function in (
            ('token', lambda keystone: 'token'),
            ('token_data', lambda *_: admin),
            ('create_project', lambda *_: {'id': next(names)}),
            ('request', lambda *arguments: granted.append(arguments[2])),
        ):
            self.patch(client, name, function)
        side = types.SimpleNamespace(keystone=None)
        self.assertEqual(['a', 'b'], population.projects(side, 2))
        self.assertEqual('/projects/b/users/me/roles/admin', granted[1])


class RescopingTestCase(testtools.TestCase):
    def test_body(self):
        auth = json.loads(client.rescope_body('t', 'p'))['auth']
        self.assertEqual({'id': 't'}, auth['identity']['token'])
        self.assertEqual({'project': {'id': 'p'}}, auth['scope'])
