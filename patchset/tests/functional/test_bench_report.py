# SPDX-License-Identifier: Apache-2.0

"""Tests of the report about measurements, with matplotlib."""

import json
import pathlib
import subprocess
from xml.etree import ElementTree

import fixtures
import testtools

from patchset import paths


class ReportTestCase(testtools.TestCase):
    def setUp(self):
        super().setUp()
        self.folder = pathlib.Path(self.useFixture(fixtures.TempDir()).path)

    def put(self, experiment, points):
        result = {
            'experiment': experiment,
            'version': '30.0.0+revcache.1',
            'scale': 'small',
            'token_caching': False,
            'command': f'./ks bench {experiment} --out "<here>"',
            'machine': {'processor': 'Abacus & Sons', 'cpus': 2},
            'load_average': 0.1,
            'steal': 0.07,
            'points': points,
        }
        path = self.folder / f'{experiment}.json'
        path.write_text(json.dumps(result))

    def draw(self):
        return subprocess.run(
            [paths.ROOT / 'ks', 'bench', 'report', '--out', self.folder],
            capture_output=True,
            text=True,
        )

    def test_one_page_with_everything(self):
        one = {
            'rate': 10, 'rate_spread': [9, 12], 'of_own_0': 1,
            'of_own_0_spread': [0.9, 1.1], 'p50': 1, 'p99': 2, 'repeats': 3,
            'runs': 3 * [{'rate': 10}],
        }  # fmt: skip
        mixed = {
            **one, 'loss': 0, 'work': 0, 'revoked': 1, 'revoke_p99': None,
            'revoker_cpu': 0,
        }  # fmt: skip
        first = {'ms': 40, 'spread': [30, 50], 'of_own_0': 1, 'runs': [[40]]}
        self.put(
            'revocations',
            [
                {
                    'kind': 'audit',
                    'events': count,
                    'stock': one,
                    'patched': one,
                }
                for count in (0, 10, 100)
            ],
        )
        self.put(
            'mixed',
            [
                {'asked': asked, 'stock': mixed, 'patched': mixed}
                for asked in (0, 5)
            ],
        )
        self.put(
            'prune',
            [
                {'expired': 0, 'stock': first, 'patched': first},
                {'expired': 100, 'stock': first, 'patched': first},
                {
                    'quiet': [one],
                    'pruning': [one, one],
                    'p99_ratio': 1,
                    'memory': {'first': 1024, 'most': 2048},
                    'summary': 'Deleted 100 events.',
                    'lock_waits': 0,
                    'longest_lock_wait': '0 ms',
                    'deadlocks': 0,
                },
            ],
        )
        self.put(
            'catalog',
            [
                {
                    'load': name,
                    'endpoints': size,
                    'stock': {**one, 'first': 50},
                    'patched': {**one, 'first': 20},
                    'ratio': 1,
                    'ratio_spread': [0.9, 1.1],
                }
                for name in ('validate', 'rescope')
                for size in (1, 300)
            ],
        )
        more = {**one, 'gets': 9, 'sets': 1, 'bytes': 999, 'ms': 4}
        sides = {
            'stock': more, 'patched': more, 'ratio': 1, 'ratio_spread': [1, 1],
        }  # fmt: skip
        loads = [
            {'what': what, 'clients': clients, **sides}
            for what in ('create', 'validate')
            for clients in (1, 20)
        ]
        self.put(
            'tokens',
            [
                {**point, 'cache': cache}
                for cache in ('memcached', 'none')
                for point in loads
            ],
        )
        self.put(
            'formats',
            [
                {**point, 'format': name}
                for name in ('fernet', 'jws')
                for point in loads
            ],
        )
        size = {'pss': 90, 'rss': 99, 'each': None}
        self.put(
            'memory',
            [
                {
                    'kind': kind,
                    'number': number,
                    'stock': size,
                    'patched': size,
                }
                for kind in ('chain', 'tokens')
                for number in (0, 10)
            ],
        )
        self.put(
            'rally',
            [
                {
                    **sides,
                    'database': database,
                    'delay': delay,
                    'scenario': 'create_and_list_users',
                    'clients': 10,
                    'stock': {**one, 'failed': 0, 'reads': 0.9},
                    'patched': {**one, 'failed': 1, 'reads': 0.8},
                }
                for database, delay in (('mariadb', 0), ('galera', 100))
            ],
        )
        written = {**one, 'written': 5, 'write_p50': None}
        self.put(
            'living',
            [
                {
                    **sides, 'case': case, 'pace': pace,
                    'stock': written, 'patched': written,
                }
                for case, paces in (
                    ('grants', ('quiet', '5/s', '0.2/s')),
                    ('own-ec2', ('quiet', 'loop')),
                )
                for pace in paces
            ],
        )  # fmt: skip
        asked = {**one, 'gets': 9, 'sets': 1, 'hits': 8, 'refused': None}
        self.put(
            'services',
            [
                {
                    **sides, 'case': case, 'where': where, 'load': load,
                    'stock': asked, 'patched': asked,
                }
                for case, where in (
                    ('services', '2 processes'), ('processes', '1 process'),
                    ('processes', '4 processes'),
                )
                for load in ('first service', 'all services')
            ],
        )  # fmt: skip
        near = {**one, 'cumulative': list(range(101))}
        self.put(
            'regions',
            [
                {
                    **sides, 'nodes': 3, 'database': 'mariadb',
                    'case': 'uniform', 'delay': delay, 'load': 'light',
                    'request': request, 'stock': near, 'patched': near,
                }
                for delay in (0, 100)
                for request in ('create_token', 'validate_token')
            ],
        )  # fmt: skip
        refused = {'median': 0.1, 'most': None, 'tokens': 2, 'revoking': 1}
        self.put(
            'propagation',
            [
                {
                    'case': 'shared', 'delay': 0,
                    'stock': refused, 'patched': refused,
                },
                {'case': 'per-node-1s', 'delay': 0, 'patched': refused},
            ],
        )  # fmt: skip
        noticed = {
            'requests': 9, 'failed': 1, 'refused': 0, 'lasted': 2,
            'recovered': 1, 'slowest': 1, 'revoked': 3, 'accepted': 0,
            'longest': 0,
        }  # fmt: skip
        lost = {'lost': 0}
        self.put(
            'faults',
            [
                {
                    'case': 'near', 'fault': 'worker killed',
                    'stock': noticed, 'patched': noticed,
                },
                {
                    'case': 'near', 'fault': 'after all of them',
                    'stock': lost, 'patched': lost,
                },
            ],
        )  # fmt: skip
        done = self.draw()
        self.assertEqual(0, done.returncode, done.stderr)
        text = (self.folder / 'report.html').read_text()
        charts = [one.name for one in self.folder.glob('*.svg')]
        self.assertCountEqual(
            ['revocations-1.svg', 'revocations-2.svg', 'mixed-1.svg']
            + ['prune-1.svg', 'catalog-1.svg', 'tokens-1.svg']
            + ['tokens-2.svg', 'formats-1.svg', 'memory-1.svg']
            + ['rally-1.svg', 'rally-2.svg']
            + ['living-1.svg', 'living-2.svg', 'services-1.svg']
            + ['regions-1.svg', 'regions-2.svg']
            + ['propagation-1.svg', 'faults-1.svg'],
            charts,
        )
        self.assertEqual(f'{self.folder}/report.html\n', done.stdout)
        root = ElementTree.fromstring(
            text.replace('<meta charset="utf-8">', '').partition('\n')[2]
        )
        svg = '{http://www.w3.org/2000/svg}'
        self.assertEqual(18, len(list(root.iter(f'{svg}svg'))))
        ids = [one.get('id') for one in root.iter(f'{svg}clipPath')]
        self.assertEqual(len(ids), len(set(ids)))
        words = ''.join(root.itertext())
        for expected in (
            'live events (logarithmic)',
            'revocations per second, asked for',
            'expired rows in the table',
            'endpoints in the catalog',
            'keys read, for each request',
            'milliseconds for an answer',
            'tokens that each process has validated',
            'galera, 100 ms away, 10 at once',
            'rounds of writes per second',
            'per cent of the quiet rate',
            'percentage of failed requests',
            'uniform round trip time of 100 ms, light load',
            'Abacus & Sons',
            './ks bench mixed --out "<here>"',
            'Deleted 100 events.',
        ):
            self.assertIn(expected, words)
        # It loads nothing from elsewhere.
        self.assertNotRegex(text, r'(?i)<(script|link|img|iframe)\b|@import')

    def test_nothing_to_draw(self):
        done = self.draw()
        self.assertEqual(1, done.returncode)
        self.assertEqual(
            f'ks: error: {self.folder} has no results\n', done.stderr
        )
