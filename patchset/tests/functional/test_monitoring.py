# SPDX-License-Identifier: Apache-2.0

"""Tests of what contrib/ has for Prometheus, by the programs that read it."""

import json
import pathlib
import re
import socket
import subprocess
import urllib.error
import urllib.request

import fixtures
import testtools

from patchset import child
from patchset import client
from patchset import paths
from patchset.services import memcached
from patchset.services import server
from patchset.test_parts import cloud
from patchset.tests.functional import test_contrib
from patchset.tests.functional import test_deployment

CONTRIB = paths.ROOT / 'contrib'
RULES = CONTRIB / 'prometheus' / 'keystone.rules.yaml'
DASHBOARD = CONTRIB / 'grafana' / 'keystone.json'
_STATSD = re.compile(r'statsd=~?"([^"]+)"')
_NAME = re.compile(r'\b(?:keystone|collectd)_\w+\b(?!\[)')


def promtool(*words, text=None):
    """What promtool complains of, as text; empty if it accepts the input."""
    done = subprocess.run(
        ['promtool', *words],
        input=text,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    return done.stdout if done.returncode else ''


class RulesTestCase(testtools.TestCase):
    def test_they_fire_when_they_should(self):
        self.assertEqual('', promtool('check', 'rules', RULES))
        tests = RULES.with_suffix('.test.yaml')
        self.assertEqual('', promtool('test', 'rules', tests))


def expressions():
    """The queries of the dashboard, in order."""
    panels = json.loads(DASHBOARD.read_text())['panels']
    return [one['expr'] for panel in panels for one in panel['targets']]


class DashboardTestCase(testtools.TestCase):
    def test_prometheus_accepts_each_query(self):
        rules = [
            {'record': f'query:{number}', 'expr': one}
            for number, one in enumerate(expressions())
        ]
        text = json.dumps({'groups': [{'name': 'one', 'rules': rules}]})
        # What Grafana puts in its place.
        text = text.replace('$__rate_interval', '5m')
        folder = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        path = folder / 'rules.yaml'
        path.write_text(text)
        self.assertEqual('', promtool('check', 'rules', path))

    def test_each_panel_has_a_place_of_its_own(self):
        panels = json.loads(DASHBOARD.read_text())['panels']
        places = {tuple(one['gridPos'].values()) for one in panels}
        self.assertEqual(len(panels), len(places))
        self.assertEqual(len(panels), len({one['id'] for one in panels}))


class Collectd(server.Server):
    """collectd with the configuration of contrib/, on free ports."""

    name = 'collectd'

    def metrics(self):
        """What Prometheus reads; empty if there is no answer."""
        try:
            url = f'http://{self.address}/metrics'
            with urllib.request.urlopen(url) as answer:
                return answer.read().decode()
        except urllib.error.URLError:
            return ''

    def _prepare(self):
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as one:
            one.bind(('127.0.0.1', 0))
            self.statsd_port = one.getsockname()[1]

    def _command(self):
        text = (CONTRIB / 'collectd' / 'keystone.conf').read_text()
        text = text.replace('"8125"', f'"{self.statsd_port}"')
        text = text.replace('"9103"', f'"{self.port}"')
        path = self._write(
            'collectd.conf',
            f'BaseDir "{self.folder}"\nPIDFile "{self.folder}/pid"\n'
            f'Interval 1\n{text}',
        )
        return [child.find('collectd'), '-f', '-C', path]

    def _is_ready(self):
        return 'collectd' in self.metrics()


class MetricsTestCase(test_contrib.StateTestCase):
    """The metrics exist under the names that rules and dashboard use."""

    def test_names(self):
        names = {
            name
            for text in (RULES.read_text(), *expressions())
            for name in _NAME.findall(text)
        }
        counters, gauges = self.counters(), self.gauges()
        self.assertEqual('', promtool('check', 'metrics', text=gauges), gauges)
        for name in names:
            self.assertRegex(counters + gauges, rf'(?m)^{name}\b')
        for one in _STATSD.findall(' '.join(expressions())):
            self.assertRegex(counters, f'statsd="(?:{one})"')

    def gauges(self):
        """What both commands export, as text."""
        return self.run_line(
            # The log is on standard error.
            'exec 2>/dev/null; '
            'keystone-manage revocation_status --format prometheus; '
            'keystone-manage fernet_status --format prometheus || '
            '[ $? -eq 1 ]',
            {'PYTHONWARNINGS': 'ignore'},
        )

    def counters(self):
        """What collectd exports after some requests, as text."""
        hit = 'keystone.cache.validation_cache.hit"'
        with Collectd() as collectd, memcached.Memcached() as cache:
            options = {
                'statsd_host': '127.0.0.1',
                'statsd_port': collectd.statsd_port,
            }
            with cloud.keystone(
                self.state, port=self.port, cache=cache.url,
                options={'cache_counters': options},
            ):  # fmt: skip
                life = test_deployment.life(
                    client.Client(self.port), self.admin
                )
            self.assertEqual(test_deployment.LIFE, life)
            child.wait_until(
                lambda: hit in collectd.metrics(),
                collectd.start_timeout,
                lambda: AssertionError(collectd.metrics()),
            )
            return collectd.metrics()
