# Licensed under the Apache License, Version 2.0 (the "License"); you may
# not use this file except in compliance with the License. You may obtain
# a copy of the License at
#
#      http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the
# License for the specific language governing permissions and limitations
# under the License.

"""Tests of what is made of Rally's reports."""

import argparse
import dataclasses

import testtools

from bench import plan
from bench import rally
from patchset import errors
from patchset.commands import bench


class WorkloadTestCase(testtools.TestCase):
    def test_those_that_failed_do_not_count(self):
        iterations = [[0.2, None], [9, 'no room'], [0.4, None]]
        self.assertEqual(
            {'rate': 8, 'p50': 200, 'p99': 400, 'failed': 1, 'steal': 0.5},
            rally.sum_up(
                {'iterations': iterations, 'load_duration': 0.5}, 0.5
            ),
        )

    def test_none_that_succeeded_is_no_result(self):
        for iterations, reason in (
            ([[9, 'no room']], 'no room'),
            ([], 'none was run'),
        ):
            error = self.assertRaises(
                errors.Error,
                rally.sum_up,
                {'iterations': iterations, 'load_duration': None},
            )
            self.assertIn(f'no iteration succeeded: {reason}', str(error))


class AmountTestCase(testtools.TestCase):
    def test_less_from_far_away(self):
        one = plan.Plan(pin=None, scale='full')
        self.assertEqual(rally.Amount(100, 10, 3), rally.amount(one))
        far = dataclasses.replace(one, delay=100)
        self.assertEqual(rally.Amount(3, 1, 1), rally.amount(far))
        cluster = dataclasses.replace(far, databases=('galera',))
        self.assertEqual(rally.Amount(10, 1, 3), rally.amount(cluster))


class DatabasesTestCase(testtools.TestCase):
    def of(self, *words):
        parser = argparse.ArgumentParser()
        bench.add_arguments(parser)
        args = parser.parse_args(words)
        name = args.experiment
        return bench.databases_of(name, args), bench.command(name, args)

    def test_full_takes_each(self):
        used, command = self.of('rally', '--scale', 'full')
        self.assertEqual(('mariadb', 'postgresql', 'galera'), used)
        self.assertNotIn('--database', command)

    def test_unless_one_is_named(self):
        used, command = self.of(
            'rally', '--scale', 'full', '--database', 'galera'
        )
        self.assertEqual(('galera',), used)
        self.assertIn('--database galera', command)

    def test_others_take_mariadb(self):
        for words in (['rally'], ['tokens', '--scale', 'full']):
            self.assertEqual(('mariadb',), self.of(*words)[0])


class PointsTestCase(testtools.TestCase):
    def setUp(self):
        super().setUp()
        rates = {'stock': (10, 5), 'patched': (20, 20)}
        self.points = rally.points(
            {
                (side, 'galera', 100, 'get_entities'): [
                    {
                        'rate': rate, 'p50': 5, 'p99': 9, 'failed': rate - 5,
                        'reads': 90, 'writes': 10,
                    }
                    for rate in values
                ]
                for side, values in rates.items()
            }
        )  # fmt: skip

    def test_ratio_and_shares(self):
        (point,) = self.points
        self.assertEqual(('galera', 100), (point['database'], point['delay']))
        self.assertEqual((3, [2, 4]), (point['ratio'], point['ratio_spread']))
        self.assertEqual(0.9, point['stock']['reads'])
        self.assertEqual(2.5, point['stock']['failed'])

    def test_text(self):
        lines = rally.text(self.points).splitlines()
        self.assertRegex(
            lines[-1],
            r'^galera +100 +get_entities +patched +20.0 +3.00 .* 90.0 % +2$',
        )
