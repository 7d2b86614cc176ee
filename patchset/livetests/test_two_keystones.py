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

"""Two Keystones: revoke on one, validate on the other."""

import http.client
import json
import os
import pathlib
import time

import fixtures
import testtools

from patchset import deployment
from patchset import environment
from patchset import keystone_conf
from patchset import pins
from patchset import trees
from patchset.services import mariadb
from patchset.services import memcached
from patchset.services import server

ROUNDS = int(os.environ.get('KS_ROUNDS', 2000))
BOUND = 2  # seconds, for the Keystones that share no cache


class Client:
    """Requests to one Keystone."""

    def __init__(self, keystone):
        self._keystone = keystone

    def ask(self, method, path, token=None, subject=None, body=None):
        """Status and subject token of the answer to one request."""
        status, headers, _ = self.call(method, path, token, subject, body)
        return status, headers['X-Subject-Token']

    def call(self, method, path, token=None, subject=None, body=None):
        """Status, headers and body of the answer to one request.

        :param body: bytes, or what is to be sent as JSON
        """
        if body is not None and not isinstance(body, bytes):
            body = json.dumps(body).encode()
        connection = http.client.HTTPConnection(
            '127.0.0.1', self._keystone.port, timeout=60
        )
        headers = {'Content-Type': 'application/json'}
        if token:
            headers['X-Auth-Token'] = token
        if subject:
            headers['X-Subject-Token'] = subject
        try:
            connection.request(method, '/v3' + path, body, headers)
            answer = connection.getresponse()
            return answer.status, answer.headers, answer.read()
        finally:
            connection.close()

    def issue(self, **identity):
        """A token, from a password or from another token."""
        body = {'auth': {'identity': identity}}
        status, token = self.ask('POST', '/auth/tokens', body=body)
        assert status == http.client.CREATED, status
        return token

    def validate(self, token, subject):
        return self.ask('GET', '/auth/tokens', token, subject)[0]

    def revoke(self, token, subject):
        return self.ask('DELETE', '/auth/tokens', token, subject)[0]


class KeystonesTestCase(testtools.TestCase):
    """Two Keystones with one database."""

    def setUp(self):
        super().setUp()
        self.folder = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        self.database = mariadb.MariaDB()
        self.database.start()
        self.addCleanup(self.database.stop)

    def keystones(self, cache, options=None, processes=1, **revoke):
        """Start two Keystones with one database, as root of both the admin.

        :param options: more of {section: {option: value}}
        :param processes: how many workers each of them has
        :returns: a client of each, and the admin's password
        """
        pin = pins.load(pins.newest())
        venv = environment.Environment(pin.release, 'run').ensure()
        settings = keystone_conf.merge(
            {
                'identity': {'password_hash_rounds': 4},
                'fernet_tokens': self.keys('fernet-keys'),
                'credential': self.keys('credential-keys'),
                'revoke': {'sync_interval': BOUND, **revoke},
            },
            options,
        )
        password = 'of-both'
        clients = []
        for name in ('one', 'two'):
            keystone = deployment.Deployment(
                trees.get(pin), venv, self.folder / name,
                port=server.free_port(),
                database=self.database.url('keystone'),
                cache=cache, password=password, processes=processes,
                options=settings,
            )  # fmt: skip
            keystone.__enter__()
            self.addCleanup(keystone.stop)
            clients.append(Client(keystone))
        return clients, password

    def keys(self, name):
        """Keys of the first one, for both."""
        return {'key_repository': self.folder / 'one' / name}


class TwoKeystonesTestCase(KeystonesTestCase):
    def run_rounds(self, clients, password, rounds, pause):
        one, two = clients
        user = {
            'name': 'admin',
            'password': password,
            'domain': {'id': 'default'},
        }
        caller = one.issue(methods=['password'], password={'user': user})
        accepted = 0
        for _ in range(rounds):
            token = one.issue(methods=['password'], password={'user': user})
            self.assertEqual(http.client.OK, two.validate(caller, token))
            self.assertEqual(http.client.NO_CONTENT, one.revoke(caller, token))
            time.sleep(pause)
            status = two.validate(caller, token)
            accepted += status == http.client.OK
            self.assertIn(status, (http.client.OK, http.client.NOT_FOUND))
            one, two = two, one
        self.assertEqual(http.client.OK, two.validate(caller, caller))
        return accepted

    def test_nothing_revoked_is_accepted(self):
        cache = memcached.Memcached()
        cache.start()
        self.addCleanup(cache.stop)
        clients, password = self.keystones(cache.url)
        self.assertEqual(0, self.run_rounds(clients, password, ROUNDS, 0))

    def test_without_a_shared_cache(self):
        clients, password = self.keystones(None)
        self.assertEqual(0, self.run_rounds(clients, password, ROUNDS, 0))

    def test_without_a_shared_cache_past_the_bound(self):
        clients, password = self.keystones(
            None, sync_interval_without_cache=BOUND
        )
        rounds = max(1, ROUNDS // 100)
        self.assertEqual(0, self.run_rounds(clients, password, rounds, BOUND))
