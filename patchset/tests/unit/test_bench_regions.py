# SPDX-License-Identifier: Apache-2.0

"""Tests of the measurement of distant regions, without a cluster."""

import contextlib
import itertools
from unittest import mock

import testtools

from bench import client
from bench import experiments
from bench import load
from bench import plan
from bench import population
from bench import rally
from bench import rally_client
from bench import regions
from bench import steal_time
from patchset import errors
from patchset.tests.unit import test_commands

NAMES = ['node1', 'node2', 'node3']


def _workload(seconds):
    """What Rally tells of four iterations, one of which failed."""
    iterations = [[seconds, None]] * 3 + [[9, 'no room']]
    return {'load_duration': 3 * seconds, 'iterations': iterations}


class RegionsTestCase(testtools.TestCase):
    """Stock takes 0.2 seconds for each request, patched 0.1."""

    def setUp(self):
        super().setUp()
        self.seconds = {'stock': 0.2, 'patched': 0.1}
        self.cleaned = []
        self.served = itertools.cycle(NAMES)
        self.began = {}
        for where, name, value in (
            (population, 'accounts', lambda *_: ['a', 'b', 'c']),
            (population, 'tokens', lambda _, count: ['t'] * count),
            (client, 'token', lambda account: f'of {account}'),
            (client, 'request', self.request),
            (client, 'login_body', lambda account: account),
            (load, 'once', self.once),
            (rally, 'processes', self.rallies),
            (rally_client, 'roles', lambda side: {'admin'}),
            (
                rally_client,
                'restore',
                lambda side, _: self.cleaned.append(side),
            ),
            (steal_time, '_LIMIT', 1),
        ):
            self.patch(where, name, value)
        self.patch(regions, 'started', self.started)
        self.patch(regions.environment, 'Environment', mock.Mock())
        self.sides = [self.side(name) for name in self.seconds]

    def side(self, name):
        node = mock.Mock(port=1, url=f'http://{name}', processes=2)
        database = mock.Mock(servers=[mock.Mock()])
        running = mock.Mock(nodes=[node] * 3, database=database)
        running.layout.names = NAMES
        return regions.Side(name, running)

    def request(self, method, keystone, path):
        """A request to HAProxy, by which nothing is measured."""
        node = next(self.served)
        self.began.setdefault(keystone.url, []).append(node)
        return {'X-Served-By': node}, b''

    def once(self, urls, requests, clients, strict):
        self.requests = requests
        (name,) = (one for one in self.seconds if one in urls[0])
        seconds = self.seconds[name]
        times = {round(1_000_000 * seconds): len(requests)}
        return load.Answers(rate=1 / seconds, times=times)

    @contextlib.contextmanager
    def started(self, plan, case):
        yield self.sides

    @contextlib.contextmanager
    def rallies(self, plan, venv, sides, number):
        yield {
            side: mock.Mock(
                run=lambda *_, name=side.name: _workload(self.seconds[name])
            )
            for side in sides
        }

    def plan(self, **more):
        return plan.Plan(pin=mock.Mock(), scale='small', **more)

    def test_run(self):
        points = regions.run(self.plan(delays=(0, 300)))
        self.assertEqual(40, len(points))
        self.assertEqual({2}, {one['ratio'] for one in points})
        for side in self.sides:
            self.assertEqual(
                [mock.call(0), mock.call(300)],
                side.cluster.set_delay.mock_calls,
            )
        # First, and after each run of the scenario that leaves roles.
        self.assertEqual(2 * (1 + (3 + 3) + (1 + 1)), len(self.cleaned))
        lines = regions.text(points).splitlines()
        self.assertEqual(2 + 2 * 40, len(lines))
        self.assertRegex(
            lines[3],
            r'^ +3 +mariadb +uniform +0 +light +create_token +patched +10.0 '
            r'+2.00 +2.00..2.00 +100.0 +0.0 +100.0 +0.0 % +3$',
        )
        self.assertRegex(lines[-1], r' 300 +high .* 10.0 .* 25.0 % +1$')

    def test_sides_begin_at_the_same_nodes(self):
        for side in self.sides:
            for before in (*NAMES, *NAMES):
                side.advance()
                self.assertEqual(before, self.began[side.keystone.url][-1])

    def test_node_without_requests(self):
        self.served = itertools.repeat('node2')
        error = self.assertRaises(errors.Error, self.sides[0].advance)
        self.assertIn('node1', str(error))

    def test_default_delays(self):
        for case, delays in (('uniform', (0,)), ('hierarchical', (150,))):
            points = regions.run(self.plan(cases=(case,), nodes=9))
            found = dict.fromkeys(one['delay'] for one in points)
            self.assertEqual(delays, tuple(found))

    def test_each_service_validates_each_token(self):
        side = self.sides[0]
        self.assertEqual(6, side.processes)
        created = side.requests('create_token', 4)
        self.assertEqual(
            ['a', 'b', 'c', 'a'], [body for _, _, body in created]
        )
        first = side.requests('validate_token', 4)
        callers = ['of a'] * 4 + ['of b'] * 4 + ['of c'] * 4
        self.assertEqual(callers, [caller for caller, _, _ in first])
        self.assertIs(first, side.requests('validate_token_again', 4))

    def test_each_process_of_many_nodes_validates(self):
        side = self.sides[0]
        side.cluster.nodes *= 15
        regions.measure(side, None, 'validate_token', rally.Amount(2, 1, 1))
        self.assertEqual(2 * side.processes, len(self.requests))

    def test_distribution(self):
        times = {1000: 2, 3000: 1, 5000: 1}
        answers = load.Answers(rate=1, times=times)
        measured = [{'answers': answers, 'failed': 1} for _ in range(2)]
        found = regions.distribution(measured)
        self.assertEqual([{'failed': 1}] * 2, measured)
        cumulative = found.pop('cumulative')
        self.assertEqual([1, 1, 3, 5], cumulative[25::25])
        self.assertEqual(101, len(cumulative))
        self.assertEqual(
            {'mean': 2.5, 'deviation': 1.7, 'p95': 5, 'failed': 0.2}, found
        )


class ArrangementTestCase(testtools.TestCase):
    def of(self, case, nodes):
        one = plan.Plan(pin=None, scale='small', nodes=nodes)
        return regions.arrangement(one, case, 'stock')

    def test_many_nodes_are_light(self):
        for nodes, places, processes in ((3, 3, 2), (9, 9, 2), (45, 9, 1)):
            found = self.of('uniform', nodes)
            self.assertEqual(
                (places, processes), (found.regions, found.processes)
            )

    def test_groups(self):
        self.assertTrue(self.of('hierarchical', 9).grouped)
        self.assertRaises(errors.UsageError, self.of, 'hierarchical', 3)

    def test_words(self):
        self.assertIn('regions', experiments.ALL)
        for words, message in (
            (['rally', '--nodes', '3'], '--nodes requires regions'),
            (['regions', '--nodes', '99'], '99 is not between 2 and 60'),
            (['regions', '--case', 'none'], 'has no case none'),
        ):
            code, text = test_commands.run('bench', *words)
            self.assertEqual(2, code)
            self.assertIn(message, text)
