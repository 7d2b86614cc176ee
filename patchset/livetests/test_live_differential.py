# SPDX-License-Identifier: Apache-2.0

"""Two Keystones of one cloud, one of which keeps no answers.

Things happen at random, on either of them. After each, both are asked the same
about some token, and have to answer the same.
"""

import collections
import json
import os
import random
import socket
import threading

from patchset.livetests import keystones

# What happens in a test, and the questions after each of these.
CHANGES = int(os.environ.get('KS_ROUNDS', 100)) * 3
QUESTIONS = 6
SEED = os.environ.get('KS_SEED', '1')

_DOMAIN = {'id': 'default'}
_QUERIES = ('', '', '', '', '?nocatalog', '?allow_expired=1')


class Statsd:
    """Adds up the counters that are sent to it.

    :ivar counts: {name: sum}
    """

    def __init__(self):
        self.counts = collections.Counter()
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._socket.bind(('127.0.0.1', 0))
        self.port = self._socket.getsockname()[1]
        self._thread = threading.Thread(target=self._listen)
        self._thread.start()

    def _listen(self):
        while packet := self._socket.recv(65536):
            for line in packet.decode().splitlines():
                name, _, value = line.partition(':')
                number, _, kind = value.partition('|')
                if kind == 'c':
                    self.counts[name.rpartition('.')[2]] += int(number)

    def stop(self):
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as own:
            own.sendto(b'', ('127.0.0.1', self.port))
        self._thread.join()
        self._socket.close()


class LiveDifferentialTests(keystones.KeystonesTestCase):
    """Cached responses equal those computed without a cache."""

    def setUp(self):
        super().setUp()
        self.statsd = Statsd()
        self.addCleanup(self.statsd.stop)
        self.dice = random.Random(SEED)
        counters = {
            'enabled': True,
            'statsd_host': '127.0.0.1',
            'statsd_port': self.statsd.port,
        }
        self.clients, password = self.keystones(
            self.memcached(),
            options={'cache_counters': counters},
            processes=2,
            second={'token': {'validation_cache': False}},
        )
        self.kept, self.past = self.clients
        self.admin = self.sign_in('admin', password, 'admin')
        self.roles = [
            role['id']
            for role in self.write('GET', '/roles')['roles']
            if role['name'] in ('member', 'reader')
        ]
        self.service = self.make('service', type='compute')
        self.projects = [self.make('project', name=f'p{n}') for n in range(3)]
        self.users = [
            self.make('user', name=f'u{n}', password='secret')
            for n in range(3)
        ]
        self.passwords = dict.fromkeys(self.users, 'secret')
        self.endpoints, self.credentials, self.tokens = [], [], []
        for user in self.users:
            for project in self.projects:
                self.write('PUT', self.grant(user, project))
        for _ in range(4):
            self.issue()

    # Requests.

    def sign_in(self, name, password, project):
        user = {'name': name, 'password': password, 'domain': _DOMAIN}
        return self.authenticate(
            {'methods': ['password'], 'password': {'user': user}},
            {'project': {'name': project, 'domain': _DOMAIN}},
        )

    def authenticate(self, identity, scope=None):
        """A token, or None."""
        body = {'auth': {'identity': identity}}
        if scope:
            body['auth']['scope'] = scope
        client = self.dice.choice(self.clients)
        status, token = client.ask('POST', '/auth/tokens', body=body)
        return token if status == 201 else None

    def write(self, method, path, body=None, token=None):
        """The answer, or None if it was refused."""
        client = self.dice.choice(self.clients)
        status, _, text = client.call(
            method, path, token or self.admin, body=body
        )
        self.assertLess(status, 500, (method, path, text))
        return json.loads(text) if status < 300 and text else None

    def make(self, kind, **values):
        if kind in ('project', 'user'):
            values['domain_id'] = 'default'
        return self.write('POST', f'/{kind}s', {kind: values})[kind]['id']

    def any(self, things):
        return self.dice.choice(things)

    def grant(self, user, project):
        role = self.any(self.roles)
        return f'/projects/{project}/users/{user}/roles/{role}'

    # What happens.

    def issue(self):
        user = self.any(self.users)
        project = {'project': {'id': self.any(self.projects)}}
        identity = {'id': user, 'password': self.passwords[user]}
        token = self.authenticate(
            {'methods': ['password'], 'password': {'user': identity}},
            self.any((project, project, None)),
        )
        self.tokens += [token] if token else []
        del self.tokens[:-6]

    def rescope(self):
        token = self.authenticate(
            {'methods': ['token'], 'token': {'id': self.any(self.tokens)}},
            {'project': {'id': self.any(self.projects)}},
        )
        self.tokens += [token] if token else []

    def use_credential(self):
        if self.credentials:
            _, credential = self.any(self.credentials)
            token = self.authenticate(
                {
                    'methods': ['application_credential'],
                    'application_credential': credential,
                }
            )
            self.tokens += [token] if token else []

    def make_credential(self):
        user = self.any(self.users)
        token = self.authenticate(
            {
                'methods': ['password'],
                'password': {
                    'user': {'id': user, 'password': self.passwords[user]}
                },
            },
            {'project': {'id': self.any(self.projects)}},
        )
        made = token and self.write(
            'POST',
            f'/users/{user}/application_credentials',
            {'application_credential': {'name': f'c{self.dice.random()}'}},
            token,
        )
        if made:
            credential = made['application_credential']
            secret = {'id': credential['id'], 'secret': credential['secret']}
            self.credentials.append((user, secret))

    def delete_credential(self):
        if self.credentials:
            user, secret = self.credentials.pop()
            path = f'/users/{user}/application_credentials/{secret["id"]}'
            self.write('DELETE', path)

    def revoke(self):
        query = self.any(('', '?cascade=false'))
        client = self.any(self.clients)
        client.ask(
            'DELETE', '/auth/tokens' + query, self.admin, self.any(self.tokens)
        )

    def change_grant(self):
        path = self.grant(self.any(self.users), self.any(self.projects))
        self.write(self.any(('PUT', 'DELETE')), path)

    def change_user(self):
        values = {'enabled': self.dice.random() < 0.7}
        if self.dice.random() < 0.3:
            values = {'name': f'u{self.dice.random()}'}
        self.write('PATCH', f'/users/{self.any(self.users)}', {'user': values})

    def change_password(self):
        user = self.any(self.users)
        self.passwords[user] = f'secret{self.dice.random()}'
        values = {'password': self.passwords[user]}
        self.write('PATCH', f'/users/{user}', {'user': values})

    def change_project(self):
        values = {'enabled': self.dice.random() < 0.7}
        if self.dice.random() < 0.3:
            values = {'name': f'p{self.dice.random()}'}
        path = f'/projects/{self.any(self.projects)}'
        self.write('PATCH', path, {'project': values})

    def change_catalog(self):
        if len(self.endpoints) > 3:
            self.write('DELETE', f'/endpoints/{self.endpoints.pop()}')
            return
        self.endpoints.append(
            self.make(
                'endpoint',
                service_id=self.service,
                interface='public',
                url=f'http://{self.dice.random()}/%(project_id)s',
            )
        )

    def happen(self):
        """Let one thing happen; its name."""
        while len(self.tokens) < 3:
            for user in self.users:
                self.write(
                    'PATCH', f'/users/{user}', {'user': {'enabled': True}}
                )
            self.issue()
        change = self.any(
            (
                self.issue, self.rescope, self.use_credential,
                self.make_credential, self.delete_credential, self.revoke,
                self.change_grant, self.change_user, self.change_password,
                self.change_project, self.change_catalog,
            )
        )  # fmt: skip
        change()
        return change.__name__

    # Questions.

    def asked(self, client, method, query, caller, subject):
        status, headers, text = client.call(
            method, '/auth/tokens' + query, caller, subject
        )
        # The address of the one that was asked.
        port = str(client.port)
        shown = {
            name: value.replace(port, 'PORT')
            for name, value in headers.items()
            if name.lower() not in ('x-openstack-request-id', 'date')
        }
        body = text
        if b'"roles"' in text:
            body = json.loads(text)
            # They come in no order.
            body['token']['roles'].sort(key=str)
        return status, shown, body

    def test_random_changes(self):
        valid = 0
        for number in range(CHANGES):
            name = self.happen()
            for _ in range(QUESTIONS):
                subject = self.any(self.tokens)
                question = (
                    self.any(('GET', 'GET', 'GET', 'HEAD')),
                    self.any(_QUERIES),
                    self.any((self.admin, subject)),
                    subject,
                )
                # Both workers of the first come to have it.
                ours = [self.asked(self.kept, *question) for _ in range(2)]
                computed = self.asked(self.past, *question)
                about = (SEED, number, name, question[:2])
                self.assertEqual([computed, computed], ours, about)
                valid += computed[0] == 200
                if computed[0] != 200:
                    self.tokens.remove(subject)
                    if not self.tokens:
                        break
        self.assertGreater(valid, CHANGES)
        counts = self.statsd.counts
        self.assertGreater(counts['hit'], CHANGES, counts)
