# SPDX-License-Identifier: Apache-2.0

"""Tests of whole experiments, with stubs for the servers and the load."""

import contextlib
import itertools
from unittest import mock

import testtools

from bench import background
from bench import catalog
from bench import client
from bench import endurance
from bench import events
from bench import formats
from bench import living
from bench import load
from bench import memory
from bench import mixed
from bench import plan
from bench import population
from bench import radosgw
from bench import revocations
from bench import rotation
from bench import s3
from bench import steal_time
from bench import testbed
from bench import tokens
from bench import warm
from bench import writes

_ADMIN = {
    'user': {'id': 'user'},
    'project': {'id': 'project'},
    'roles': [{'id': 'role'}],
}
_COUNTERS = ('cmd_get', 'get_hits', 'cmd_set', 'bytes_read', 'bytes_written')
_WRITTEN = {'rate': 5, 'p50': 20, 'p99': 30, 'cpu': 0.1}
_SIZES = {'pss': [90 << 20], 'rss': [99 << 20]}


def _side(name, rate):
    side = mock.MagicMock(url=f'http://{name}/auth/tokens', rate=rate)
    side.name = name
    side.keystone.url = f'http://{name}'
    side.query.return_value = [('1',)]
    side.cache.stats.return_value = dict.fromkeys(_COUNTERS, 1)
    return side


class ExperimentsTestCase(testtools.TestCase):
    """Stock answers 100 requests per second, patched 400."""

    def setUp(self):
        super().setUp()
        self.sides = [_side('stock', 100), _side('patched', 400)]
        self.patch(testbed, 'both', self.both)
        for name in ('during', 'exactly', 'once'):
            self.patch(load, name, self.answers)
        numbers = itertools.count()
        for name, function in (
            ('token', lambda keystone: f'token{next(numbers)}'),
            ('rescope', lambda *_: 'token'),
            ('revoke', lambda *_: None),
            ('create', lambda *_: {'id': 'trust'}),
            ('create_project', lambda *_: {'id': 'project'}),
            ('request', lambda *_: None),
            ('token_data', lambda *_: _ADMIN),
            ('login_body', lambda _: '{}'),
            ('create_access_key', lambda *_: ('access', 'secret')),
            ('rescoped_tokens', lambda _, count: ['token'] * count),
        ):
            self.patch(client, name, function)
        self.patch(population, 'accounts', self.accounts)
        self.patch(background, 'writes', self.writes)
        for name in ('AT_RATE', 'IN_LOOP'):
            kinds = dict.fromkeys(getattr(writes, name), lambda *_: [])
            self.patch(writes, name, kinds)
        self.patch(steal_time, '_LIMIT', 1)

    @contextlib.contextmanager
    def both(self, plan, options=None):
        yield self.sides

    def accounts(self, keystone, count, role='member'):
        return [mock.MagicMock() for _ in range(count)]

    @contextlib.contextmanager
    def writes(self, *_, **more):
        yield dict(_WRITTEN)

    def answers(self, urls, *_):
        url = urls if isinstance(urls, str) else urls[0]
        (side,) = (one for one in self.sides if one.keystone.url in url)
        return load.Answers(rate=side.rate, times={5000: 100})

    def run_experiment(self, module, **more):
        return module.run(plan.Plan(pin=mock.Mock(), scale='small', **more))

    def test_ratio(self):
        for module, count in (
            (warm, 5), (rotation, 2), (formats, 8), (tokens, 8), (catalog, 4),
            (living, 16),
        ):  # fmt: skip
            points = self.run_experiment(module)
            self.assertEqual([4] * count, [one['ratio'] for one in points])
            lines = module.text(points).splitlines()
            self.assertEqual(2 + 2 * count, len(lines))

    def test_signed_requests(self):
        points = self.run_experiment(s3)
        self.assertEqual(
            [4, 4, 4], [one['patched']['of_stock'] for one in points]
        )
        self.assertEqual(8, len(s3.text(points).splitlines()))

    def test_memory(self):
        self.patch(memory, 'of_workers', lambda side: _SIZES)
        self.patch(events, 'add', lambda *_: None)
        points = self.run_experiment(memory)
        self.assertEqual([90] * 4, [one['patched']['pss'] for one in points])
        self.assertEqual(10, len(memory.text(points).splitlines()))

    def test_endurance(self):
        rates = []

        def during(url, requests, seconds, clients, rate):
            rates.append(rate)
            return self.answers(url)

        for where, name, value in (
            (load, 'during', during),
            (events, 'add_expired', lambda *_: None),
            (memory, 'of_workers', lambda side: {'pss': [3 * 2**20, 2**20]}),
        ):
            self.patch(where, name, value)
        self.patch(endurance, '_WRITES', ())
        # As at full scale, stock has fewer slices.
        self.patch(endurance, 'SLICES', {'small': {'patched': 4, 'stock': 2}})
        points = self.run_experiment(endurance)
        self.assertEqual(list(range(5)), [one['slice'] for one in points])
        self.assertEqual([4, 4, 4], [one['ratio'] for one in points[:3]])
        self.assertEqual({2}, {one['patched']['pss'] for one in points})
        self.assertEqual({2}, {one['stock']['pss'] for one in points[:3]})
        # Of patched, and then of stock, at a quarter of the rate.
        self.assertEqual([0, *4 * [280], 0, *2 * [70]], rates)
        self.assertEqual(10, len(endurance.text(points).splitlines()))

    def test_radosgw(self):
        gateway = mock.Mock(side=self.sides[0], url=self.sides[0].url)
        gateway.load.return_value = self.answers(gateway.url)
        gateway.sign.return_value = {'get': []}
        gateway.keystone_requests = lambda count: 4 * count * [()]

        @contextlib.contextmanager
        def started(sides, caches, venv):
            yield {
                (side, cache): gateway for side in sides for cache in caches
            }

        self.patch(radosgw.gateways, 'started', started)
        self.patch(radosgw.environment, 'Environment', mock.Mock())
        self.patch(radosgw.system, 'ensure', lambda *_: None)
        self.patch(radosgw, 'worker_cpu_seconds', lambda keystone: 1)
        points = self.run_experiment(radosgw)
        self.assertEqual([1] * 14, [one['ratio'] for one in points])
        self.assertEqual(30, len(radosgw.text(points).splitlines()))

    def test_each_side_against_itself(self):
        self.patch(events, 'save', lambda *_: 100)
        self.patch(events, 'add', lambda *_: None)
        for module, count in ((mixed, 3), (revocations, 3)):
            points = self.run_experiment(module)
            self.assertEqual(
                [1] * count, [one['patched']['of_own_0'] for one in points]
            )
            self.assertIn('patched', module.text(points))
