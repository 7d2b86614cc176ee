# SPDX-License-Identifier: Apache-2.0

"""Checks of the clients of a cluster, without a cluster."""

import http.client
import types

import fixtures
import testtools

from patchset import client
from patchset.cluster import faults
from patchset.cluster import layout
from patchset.cluster import load


class Server(client.Client):
    """Answers each request with a status that can be set."""

    def __init__(self, status=http.client.OK):
        super().__init__(0, 'one')
        self.status = status

    def ask(self, method, path, token=None, body=None, headers=None):
        return client.Answer(self.status)


class LoadTestCase(testtools.TestCase):
    def setUp(self):
        super().setUp()
        self.server = Server()
        self.now = 100.0
        self.useFixture(
            fixtures.MonkeyPatch('time.monotonic', lambda: self.now)
        )

    def load(self, cache='shared'):
        cluster = types.SimpleNamespace(
            layout=layout.Layout(cache=cache),
            client=self.server,
            clients=[self.server],
            login=(client.password('secret'), client.ADMIN_PROJECT),
        )
        return load.Load(cluster, 2)

    def check(self, one, age, bound):
        one._check(self.server, load.Revoked('t', self.now - age, bound))

    def test_a_revoked_token_that_is_accepted(self):
        one = self.load()
        self.check(one, 0.5, 0)
        self.assertEqual([[0, 'one', 0.5]], one.accepted)
        self.assertEqual(0.5, one.longest)

    def test_accepted_within_its_bound(self):
        one = self.load()
        self.check(one, 2.5, 3)
        self.assertEqual([], one.accepted)
        self.assertEqual(2.5, one.longest)
        self.check(one, 3.5, 3)
        self.assertEqual([[0, 'one', 0.5]], one.accepted)

    def test_refused_or_not_answered(self):
        one = self.load()
        for status in (http.client.NOT_FOUND, 0, 503):
            self.server.status = status
            self.check(one, 9, 0)
        self.assertEqual([], one.accepted)
        outcomes = [request.outcome for request in one.requests]
        self.assertEqual(['ok', 'failed', 'failed'], outcomes)

    def test_bounds(self):
        shared, alone = self.load(), self.load('per-node')
        loose = 2 + load.SLACK
        self.assertEqual((0, loose), (shared.bound, alone.bound))
        shared.allow_cache_loss()
        self.assertEqual(loose, shared.bound)
        shared.forbid_cache_loss()
        alone.forbid_cache_loss()
        self.assertEqual((0, loose), (shared.bound, alone.bound))

    def test_a_revocation_that_failed_is_not_held_against_anybody(self):
        one = self.load()
        one._issue = lambda: (http.client.CREATED, 't')
        self.server.status = http.client.SERVICE_UNAVAILABLE
        one._revoke()
        self.assertEqual([], one.revoked)
        self.server.status = http.client.NO_CONTENT
        one._revoke()
        self.assertEqual(['t'], [revoked.token for revoked in one.revoked])

    def test_summary(self):
        one = self.load()
        one.requests = [
            load.Request(0, 5, 'failed'),
            load.Request(9, 11, 'ok'),
            load.Request(11, 14, 'failed'),
            load.Request(12, 13, 'refused'),
            load.Request(31, 32, 'failed'),
        ]
        self.assertEqual(
            {
                'requests': 3,
                'failed': 1,
                'refused': 1,
                'recovered': 4,
                'slowest': 3,
            },
            one.summary(10, 30),
        )

    def test_what_is_lost(self):
        one = self.load()
        one._valid = ['good']
        one._projects = ['project']
        one.revoked = [load.Revoked('bad', 0, 0)]
        self.assertEqual(['one: revoked 0: 200'], one.find_losses())
        self.server.status = http.client.NOT_FOUND
        self.assertEqual(
            ['one: valid token 0', 'one: project project'], one.find_losses()
        )


class FaultsTestCase(testtools.TestCase):
    def test_each_applies_to_some_cluster(self):
        found = set()
        for database in layout.DATABASES:
            for cache in layout.CACHES:
                one = layout.Layout(database=database, cache=cache)
                found.update(faults.applicable(one))
        self.assertEqual(set(faults.ALL), found)

    def test_those_of_a_ring_on_galera(self):
        one = layout.Layout(database='galera', cache='ring')
        names = faults.applicable(one)
        self.assertIn('one of three lost', names)
        self.assertIn('Galera node killed', names)
        self.assertNotIn('memcached killed', names)
        self.assertNotIn('database restarted', names)

    def test_after_the_fault_the_bound_is_what_it_was(self):
        done = []
        clients = types.SimpleNamespace(
            longest=1, accepted=[], revoked=[],
            allow_cache_loss=lambda: done.append('allow'),
            forbid_cache_loss=lambda: done.append('forbid'),
            summary=lambda *_: {},
        )  # fmt: skip
        for of_cache in (False, True):
            fault = faults.Fault(lambda *_: done.append('it'), of_cache)
            self.useFixture(fixtures.MonkeyPatch('time.sleep', lambda _: None))
            faults._inject_one(None, clients, fault, 1, 1)
        self.assertEqual(['it', 'allow', 'it', 'forbid'], done)
