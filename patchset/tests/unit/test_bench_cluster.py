# SPDX-License-Identifier: Apache-2.0

"""Tests of the experiments with a cluster, without one."""

import http.client
import types

import fixtures
import testtools

from bench import faults
from bench import propagation
from patchset.tests.unit import test_commands


class PropagationTestCase(testtools.TestCase):
    def setUp(self):
        super().setUp()
        self.now = 0.0
        for name, value in (
            ('time.monotonic', lambda: self.now),
            ('time.sleep', self.sleep),
        ):
            self.useFixture(fixtures.MonkeyPatch(name, value))

    def sleep(self, seconds):
        self.now += seconds

    def node(self, until):
        """A node that accepts a token until then."""

        def validate(caller, token):
            late = self.now < until
            return http.client.OK if late else http.client.NOT_FOUND

        return types.SimpleNamespace(validate=validate)

    def rejection_delay(self, **answers):
        nodes = [self.node(until) for until in answers.values()]
        return propagation.rejection_delay(nodes, 'c', 't', 0.0)

    def test_the_last_node_counts(self):
        self.assertEqual(0.0, self.rejection_delay(one=0, two=0))
        self.assertAlmostEqual(1.1, self.rejection_delay(one=0, two=1.05))

    def test_refused_at_once_by_a_node_that_is_asked_late(self):
        self.now = 5.0
        self.assertEqual(0.0, self.rejection_delay(one=4))

    def test_never(self):
        self.assertIsNone(self.rejection_delay(one=0, two=1000))

    def test_points(self):
        found = propagation.points(
            {
                ('shared', 0, 'stock'): [(0.0, 0.1), (None, 0.3), (1.0, 0.2)],
                ('shared', 0, 'patched'): [(0.0, 0.1)],
                ('per-node-1s', 0, 'patched'): [(0.5, 0.1)],
            }
        )
        self.assertEqual(
            ['shared', 'per-node-1s'], [one['case'] for one in found]
        )
        stock = found[0]['stock']
        self.assertEqual((1.0, None), (stock['median'], stock['most']))
        self.assertEqual(0.2, stock['revoking'])
        lines = propagation.text(found).splitlines()
        self.assertRegex(
            lines[2], r'^shared +0 +stock +1.00 +over 30 +0.20 +3$'
        )
        self.assertRegex(lines[4], r'^per-node-1s +0 +patched +0.50 +0.50 ')

    def test_run(self):
        late = {'stock': [(None, 0.1)], 'patched': [(0.5, 0.1)]}
        self.useFixture(
            fixtures.MonkeyPatch(
                'bench.propagation._measure_side',
                lambda plan, case, side: [(100, late[side])],
            )
        )
        plan = types.SimpleNamespace(cases=('ring', 'per-node-1s'))
        found = propagation.run(plan)
        self.assertEqual(
            [('ring', 100), ('per-node-1s', 100)],
            [(one['case'], one['delay']) for one in found],
        )
        self.assertIsNone(found[0]['stock']['most'])

    def test_stock_has_no_interval(self):
        self.assertEqual(('patched',), propagation.sides_of('per-node-1s'))
        self.assertEqual(('stock', 'patched'), propagation.sides_of('ring'))


class FaultsTestCase(testtools.TestCase):
    def test_points_and_text(self):
        one = {
            'requests': 200, 'failed': 3, 'refused': 0, 'recovered': 1.5,
            'slowest': 2, 'lasted': 4, 'revoked': 20, 'accepted': 1,
            'longest': 9.25,
        }  # fmt: skip
        found = faults.points(
            {
                ('near', 'stock'): ({'worker killed': one}, ['token 1']),
                ('near', 'patched'): ({'worker killed': one}, []),
            }
        )
        lines = faults.text(found).splitlines()
        self.assertEqual(6, len(lines))
        self.assertRegex(
            lines[2],
            r'^near +worker killed +stock +200 +1.5 % +0 +4.0 +1.5 +2.0 '
            r'+20 +1 +9.2 +-$',
        )
        self.assertRegex(lines[4], r'^near +after all of them +stock.* 1$')
        self.assertRegex(lines[5], r'^near +after all of them +patched.* 0$')

    def test_words(self):
        for words, message in (
            (['faults', '--database', 'galera'], 'given databases'),
            (['faults', '--delay', '10'], '--delay requires rally'),
            (['propagation', '--case', 'none'], 'has no case none'),
        ):
            code, text = test_commands.run('bench', *words)
            self.assertEqual(2, code)
            self.assertIn(message, text)
