# SPDX-License-Identifier: Apache-2.0

"""Two Keystones: end a credential on one, sign with it at the other."""

import hashlib
import http.client
import json
import os
import secrets
import time

from bench import signing
from patchset import client
from patchset.tests.integration import keystones

ROUNDS = int(os.environ.get('KS_ROUNDS', 2000)) // 20
BOUND = keystones.BOUND


class CredentialsTestCase(keystones.KeystonesTestCase):
    def begin(self, cache):
        """Start both, and sign the admin in.

        :returns: a client of each
        """
        clients = self.keystones(cache, {'credential': {'cache_time': BOUND}})
        answer = clients[0].authenticate(keystones.ADMIN, client.ADMIN_PROJECT)
        self.caller = answer.headers['x-subject-token']
        token = answer.body['token']
        self.path = f'/users/{token["user"]["id"]}/credentials/OS-EC2'
        self.project_id = token['project']['id']
        return clients

    def create(self, node):
        """Have an access key made; it and its secret."""
        body = {'tenant_id': self.project_id}
        made = self.write(node, 'POST', self.path, body)['credential']
        return made['access'], made['secret']

    def change(self, node, access):
        """Give an access key another secret; both."""
        secret = secrets.token_hex(16)
        blob = json.dumps({'access': access, 'secret': secret})
        name = hashlib.sha256(access.encode()).hexdigest()
        self.write(
            node,
            'PATCH',
            f'/credentials/{name}',
            {'credential': {'blob': blob}},
        )
        return access, secret

    def check(self, node, key):
        """Status of a request that is signed with a key, for S3 and EC2.

        Its secret is what Keystone tells if it accepts the key, only then.
        """
        one, other = (
            node.ask('POST', path, self.caller, sign(*key)).status
            for path, sign in (
                ('/s3tokens', signing.s3),
                ('/ec2tokens', signing.ec2),
            )
        )
        self.assertEqual(one, other)
        found = node.ask('GET', f'{self.path}/{key[0]}', self.caller)
        is_known = (
            found.status == http.client.OK
            and found.body['credential']['secret'] == key[1]
        )
        self.assertEqual(one == http.client.OK, is_known)
        return one

    def run_rounds(self, clients, rounds, pause):
        """Delete keys that both know; how often one was still accepted."""
        one, two = clients
        kept = self.create(one)
        accepted = 0
        for _ in range(rounds):
            key = self.create(one)
            for node in (one, two, two):
                self.assertEqual(http.client.OK, self.check(node, key))
            self.write(one, 'DELETE', f'{self.path}/{key[0]}')
            self.assertEqual(http.client.NOT_FOUND, self.check(one, key))
            time.sleep(pause)
            status = self.check(two, key)
            accepted += status == http.client.OK
            self.assertIn(status, (http.client.OK, http.client.NOT_FOUND))
            one, two = two, one
        for node in clients:
            self.assertEqual(http.client.OK, self.check(node, kept))
        return accepted

    def test_deleted_with_a_shared_cache(self):
        clients = self.begin(self.memcached())
        self.assertEqual(0, self.run_rounds(clients, ROUNDS, 0))

    def test_changed_with_a_shared_cache(self):
        one, two = self.begin(self.memcached())
        key = self.create(one)
        for _ in range(ROUNDS):
            for node in (one, two, two):
                self.assertEqual(http.client.OK, self.check(node, key))
            old, key = key, self.change(one, key[0])
            for node in (two, one):
                self.assertEqual(
                    http.client.UNAUTHORIZED, self.check(node, old)
                )
            one, two = two, one

    def test_deleted_without_a_shared_cache_past_the_bound(self):
        clients = self.begin(None)
        rounds = max(1, ROUNDS // 50)
        self.assertEqual(0, self.run_rounds(clients, rounds, BOUND + 1))
