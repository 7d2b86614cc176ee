# SPDX-License-Identifier: Apache-2.0

import socket

from keystone.common import cache
from keystone.server.flask.request_processing.middleware import cache_report
from keystone.tests.unit.cache import base as cache_base
from keystone.tests.unit.validation_cache import base


class CountsTests(base.ValidationCacheTestCase):
    """What the validation cache does reaches a statsd server."""

    def setUp(self):
        super().setUp()
        statsd = self.useFixture(cache_base.StatsdServer(self.config_fixture))
        self.server = statsd.socket
        self.subject = self.get_scoped_token()

    def told(self, *environ, **kwargs):
        """Let a request be counted; what is told about the cache."""
        application = cache_report.report(self.middleware)
        self.send(application, self.environ(*environ, **kwargs))
        # Nothing that is sent to this host is lost, or overtaken.
        end = b'end'
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as client:
            client.sendto(end, self.server.getsockname())
        lines = []
        while (packet := self.server.recv(65536)) != end:
            lines += packet.decode().splitlines()
        prefix = 'keystone.cache.validation_cache.'
        return {
            line.removeprefix(prefix)
            for line in lines
            if line.startswith((prefix, 'keystone.cache.invalidation'))
        }

    def test_miss(self):
        told = self.told(self.subject)

        self.assertLessEqual(
            {
                'miss.unknown:1|c',
                'made:1|c',
                'hit:1|c',
                f'entries:{len(self.cache._records)}|g',
                f'bytes:{self.cache.size}|g',
            },
            told,
        )

    def test_hit(self):
        self.ask(self.subject)

        self.assertEqual(
            {'hit:2|c', 'round_trips:1|c'}, self.told(self.subject)
        )

    def test_changed(self):
        self.ask(self.subject)
        cache.CACHE_REGION.invalidate()

        self.assertIn('miss.changed:2|c', self.told(self.subject))

    def test_bypass(self):
        self.assertIn(
            'bypass.query:1|c', self.told(self.subject, QUERY_STRING='unknown')
        )

    def test_layers_count_once(self):
        self.middleware = cache_report.report(self.middleware)
        self.ask(self.subject)

        self.assertIn('hit:2|c', self.told(self.subject))
