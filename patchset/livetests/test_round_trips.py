# SPDX-License-Identifier: Apache-2.0

"""How often a request asks memcached, on stock and on the patched tree."""

import pathlib

import fixtures
import testtools
from testtools import content

from patchset import deployment
from patchset import environment
from patchset import pins
from patchset import trees
from patchset.livetests import keystones
from patchset.livetests import relay
from patchset.services import memcached
from patchset.services import server

REQUESTS = 50


class RoundTripsTests(testtools.TestCase):
    def setUp(self):
        super().setUp()
        self.folder = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        self.cache = memcached.Memcached()
        self.cache.start()
        self.addCleanup(self.cache.stop)
        self.relay = relay.Relay(self.cache.port)
        self.addCleanup(self.relay.close)

    def keystone(self, **choice):
        """Start a Keystone whose cache is behind the relay.

        :returns: a client, and the admin's token
        """
        pin = pins.load(pins.newest())
        keystone = deployment.Deployment(
            trees.get(pin, **choice),
            environment.Environment(pin.release, 'run').ensure(),
            self.folder / 'keystone',
            port=server.free_port(),
            cache=f'memcached://127.0.0.1:{self.relay.port}',
            # A thread has its own connection, and its own view of dead ones.
            threads=1,
            options={
                'identity': {'password_hash_rounds': 4},
                # Which process prunes is asked once in an interval.
                'revoke': {'prune_interval': 0},
            },
        )  # fmt: skip
        keystone.__enter__()
        self.addCleanup(keystone.stop)
        self.identity = {
            'name': 'admin',
            'password': keystone.password,
            'domain': {'id': 'default'},
        }
        client = keystones.Client(keystone)
        return client, self.issue(client)

    def issue(self, client):
        return client.issue(
            methods=['password'], password={'user': self.identity}
        )

    def round_trips(self, request, times):
        """Round trips of one request, on average."""
        before = self.relay.round_trips
        for _ in range(times):
            request()
        return (self.relay.round_trips - before) / times

    def measure(self, **choice):
        """Round trips of a warm validation, and of a revocation."""
        client, caller = self.keystone(**choice)
        token = self.issue(client)

        def validate():
            self.assertEqual(200, client.validate(caller, token))

        self.round_trips(validate, 5)
        validation = self.round_trips(validate, REQUESTS)

        def revoke():
            self.assertEqual(204, client.revoke(caller, token))

        revocation = 0
        for _ in range(10):
            token = self.issue(client)
            self.round_trips(validate, 2)
            revocation += self.round_trips(revoke, 1) / 10
        found = f'validation {validation}, revocation {revocation:.1f}'
        self.addDetail('round trips', content.text_content(found))
        return validation, revocation

    def test_patched(self):
        validation, revocation = self.measure()
        self.assertLessEqual(validation, 2)
        self.assertLessEqual(round(revocation, 1), 4)

    def test_stock_asks_more_often(self):
        validation, revocation = self.measure(stock=True)
        self.assertLess(6, validation)
        self.assertLess(8, revocation)
