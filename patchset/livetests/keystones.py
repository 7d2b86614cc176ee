# SPDX-License-Identifier: Apache-2.0

"""Two Keystones with one database, for tests."""

import http.client
import json
import pathlib

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

BOUND = 2  # seconds between two looks into the database


class Client:
    """Requests to one Keystone."""

    def __init__(self, keystone):
        self._keystone = keystone

    @property
    def port(self):
        return self._keystone.port

    def restart_with(self, options):
        """Restart it, with additional options."""
        self._keystone.restart(options)

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
            '127.0.0.1', self.port, timeout=60
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

    def read(self, path, token):
        """Status and content of the answer to one request."""
        status, _, content = self.call('GET', path, token)
        return status, json.loads(content)

    def issue(self, scope=None, **identity):
        """A token, from a password or from another token."""
        body = {'auth': {'identity': identity}}
        if scope:
            body['auth']['scope'] = scope
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

    def memcached(self):
        """Start a memcached, for as long as the test runs; its URL."""
        cache = memcached.Memcached()
        cache.start()
        self.addCleanup(cache.stop)
        return cache.url

    def keystones(
        self, cache, options=None, processes=1, second=None, stock=(),
        **revoke
    ):  # fmt: skip
        """Start two Keystones with one database, as root of both the admin.

        :param cache: URL, or None
        :param options: more of {section: {option: value}}
        :param processes: how many workers each of them has
        :param second: options of the second one, in the place of the same
        :param stock: names of those that run the stock tree, of ``one`` and
            ``two``
        :param revoke: options of ``[revoke]``
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
        for name, own in (('one', None), ('two', second)):
            keystone = deployment.Deployment(
                trees.get(pin, name in stock), venv, self.folder / name,
                port=server.free_port(),
                database=self.database.url('keystone'),
                cache=cache, password=password, processes=processes,
                options=keystone_conf.merge(settings, own),
            )  # fmt: skip
            keystone.__enter__()
            self.addCleanup(keystone.stop)
            clients.append(Client(keystone))
        return clients, password

    def keys(self, name):
        """Keys of the first one, for both."""
        return {'key_repository': self.folder / 'one' / name}
