# SPDX-License-Identifier: Apache-2.0

"""How often a request asks memcached, on stock and on the patched tree."""

import pathlib

import fixtures
import testtools
from testtools import content

from patchset import client
from patchset.services import memcached
from patchset.test_parts import cloud
from patchset.tests.integration import relay

REQUESTS = 50


class RoundTripsTests(testtools.TestCase):
    def setUp(self):
        super().setUp()
        self.folder = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        cache = self.enterContext(memcached.Memcached())
        self.relay = relay.Relay(cache.port)
        self.addCleanup(self.relay.close)

    def keystone(self, **choice):
        """Start a Keystone whose cache is behind the relay.

        :returns: a client, and how the admin signs in
        """
        keystone = self.enterContext(
            cloud.keystone(
                self.folder / 'keystone', **choice,
                cache=f'memcached://127.0.0.1:{self.relay.port}',
                # Each thread has its own connection and view of dead ones.
                threads=1,
                # Which process prunes is asked once in an interval.
                options={'revoke': {'prune_interval': 0}},
            )
        )  # fmt: skip
        node = client.Client(keystone.port)
        return node, client.password(keystone.password)

    def round_trips(self, request, times):
        """Round trips of one request, on average."""
        before = self.relay.round_trips
        for _ in range(times):
            request()
        return (self.relay.round_trips - before) / times

    def measure(self, **choice):
        """Round trips of a warm validation, and of a revocation."""
        node, admin = self.keystone(**choice)
        caller, token = node.issue(admin), node.issue(admin)

        def validate():
            self.assertEqual(200, node.validate(caller, token))

        self.round_trips(validate, 5)
        validation = self.round_trips(validate, REQUESTS)

        def revoke():
            self.assertEqual(204, node.revoke(caller, token))

        revocation = 0
        for _ in range(10):
            token = node.issue(admin)
            self.round_trips(validate, 2)
            revocation += self.round_trips(revoke, 1) / 10
        found = f'validation {validation}, revocation {revocation:.1f}'
        self.addDetail('round trips', content.text_content(found))
        return validation, revocation

    def test_patched(self):
        validation, revocation = self.measure()
        self.assertLessEqual(validation, 2)
        # Facts of the caller and of the token, the new id of the region of
        # events, and three to replace that of tokens for stock nodes.
        self.assertLessEqual(round(revocation, 1), 6)

    def test_stock_asks_more_often(self):
        validation, revocation = self.measure(stock=True)
        self.assertLess(6, validation)
        self.assertLess(8, revocation)
