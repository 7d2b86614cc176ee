# SPDX-License-Identifier: Apache-2.0

"""Tests of the report about measurements, with matplotlib."""

import json
import pathlib
import subprocess
from xml.etree import ElementTree

import fixtures
import testtools

from patchset import paths
from patchset.tests.functional import bench_results

# Some of what the page says.
_WORDS = (
    'live events (logarithmic)',
    'target rate of revocations per second',
    'expired rows in the table',
    'endpoints in the catalog',
    'keys read per request',
    'response time in milliseconds',
    'tokens validated by each process',
    'galera with a delay of 100 ms, 10 clients',
    'rounds of writes per second',
    'percentage of the rate without writes',
    'percentage of failed requests',
    'uniform round trip time of 100 ms, light load',
    'Abacus & Sons',
    './ks bench mixed --out "<here>"',
    'Deleted 100 events.',
)


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
        for experiment, points in bench_results.ALL.items():
            self.put(experiment, points)
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
        for expected in _WORDS:
            self.assertIn(expected, words)
        # It loads nothing from elsewhere.
        self.assertNotRegex(text, r'(?i)<(script|link|img|iframe)\b|@import')

    def test_nothing_to_draw(self):
        done = self.draw()
        self.assertEqual(1, done.returncode)
        self.assertEqual(
            f'ks: error: {self.folder} has no results\n', done.stderr
        )
