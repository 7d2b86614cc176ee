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

import socket

import fixtures
from oslo_log import log

from keystone.common import cache
from keystone.common.cache import counters
from keystone.common.cache import process_cache
from keystone.server.flask import core as flask_core
from keystone.server.flask.request_processing.middleware import cache_report
from keystone.tests.unit.cache import base

_IDS = cache.CACHE_INVALIDATION_REGION.name


class CountersTests(base.CacheTestCase):
    """What is counted, and what is told about it."""

    def make_server(self):
        super().make_server()
        self.config_fixture.config(group='cache_counters', enabled=True)

    def count(self, function, *args):
        counters.begin()
        self.begin()
        function(*args)
        return counters.end()

    def ask(self, environ=None, start_response=None):
        """A request that looks for two values, one of them twice."""
        self.begin()
        for key in ('there', 'there', 'not there'):
            self.region.get(key)
        return [b'answer']

    def test_a_request(self):
        self.region.set('there', 'value')
        found = self.count(self.ask)
        self.assertEqual(3, found['one', counters.LOOKUPS])
        self.assertEqual(1, found['one', counters.MISSES])
        self.assertEqual(2, found['one', counters.ROUND_TRIPS])
        self.assertEqual(1, found[_IDS, counters.ROUND_TRIPS])
        self.assertNotIn((_IDS, counters.MISSES), found)

    def test_copies_of_the_process(self):
        self.region.set('there', 'value')
        self.count(self.region.get, 'there')
        found = self.count(self.region.get, 'there')
        self.assertEqual(1, found['one', counters.LOOKUPS])
        self.assertNotIn(('one', counters.ROUND_TRIPS), found)

    def test_each_way_to_the_backend(self):
        for backend in ('dogpile.cache.memory', 'dogpile.cache.memory_pickle'):
            self.config_fixture.config(group='cache', backend=backend)
            region = self.make_region(backend)
            for call in (
                lambda region=region: region.get('key'),
                lambda region=region: region.get_multi(['key', 'other']),
                lambda region=region: region.set('key', 'value'),
                lambda region=region: region.set_multi({'key': 'value'}),
                lambda region=region: region.delete('key'),
                lambda region=region: region.delete_multi(['key']),
            ):
                found = self.count(call)
                self.assertEqual(1, found[backend, counters.ROUND_TRIPS])

    def test_several_at_once(self):
        self.region.set('there', 'value')
        found = self.count(self.region.get_multi, ['there', 'one', 'two'])
        self.assertEqual(3, found['one', counters.LOOKUPS])
        self.assertEqual(2, found['one', counters.MISSES])

    def test_no_request(self):
        self.region.get('key')
        self.assertEqual({}, counters.end())

    def test_another_thread(self):
        counters.begin()
        self.in_thread(self.region.get, 'key')
        self.assertEqual({}, counters.end())

    def test_log(self):
        output = self.useFixture(fixtures.FakeLogger(level=log.DEBUG))
        self.region.set('there', 'value')

        answer = cache_report.report(self.ask)({}, None)

        self.assertEqual([b'answer'], answer)
        self.assertIn('one: lookups 3, misses 1, round_trips 2', output.output)

    def test_request_that_fails(self):
        def fail(environ, start_response):
            self.ask()
            raise ConnectionError

        output = self.useFixture(fixtures.FakeLogger(level=log.DEBUG))
        application = cache_report.report(fail)
        self.assertRaises(ConnectionError, application, {}, None)
        self.assertIn('lookups 3', output.output)
        self.assertEqual({}, counters.end())

    def test_statsd(self):
        server = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.addCleanup(server.close)
        server.bind(('127.0.0.1', 0))
        server.settimeout(10)
        self.config_fixture.config(
            group='cache_counters',
            statsd_host='127.0.0.1',
            statsd_port=server.getsockname()[1],
        )

        self.id_of(self.region)

        cache_report.report(self.ask)({}, None)

        lines = server.recv(65536).decode().splitlines()
        self.assertIn('keystone.cache.one.lookups:3|c', lines)
        self.assertIn(
            'keystone.cache.invalidation_region.round_trips:1|c', lines
        )

    def test_middleware_of_keystone(self):
        self.assertIs(cache_report.report, flask_core._KEYSTONE_MIDDLEWARE[0])


class SwitchedOffTests(base.CacheTestCase):
    """Nothing stands in the way when nothing is counted."""

    def test_backend(self):
        proxies = []
        backend = self.region.backend
        while hasattr(backend, 'proxied'):
            proxies.append(type(backend))
            backend = backend.proxied
        self.assertIn(process_cache.Proxy, proxies)
        for proxy in proxies:
            self.assertFalse(issubclass(proxy, counters._Counting))

    def test_middleware(self):
        def application(environ, start_response):
            """Answer nothing."""

        self.assertIs(application, cache_report.report(application))
