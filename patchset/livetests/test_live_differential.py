# SPDX-License-Identifier: Apache-2.0

"""Two Keystones of one cloud, one of which keeps no answers.

Things happen at random, on either of them. After each, both are asked the same
about some token, and have to answer the same.
"""

import collections
import os
import random
import socket
import threading

from patchset import client
from patchset.livetests import keystones

# What happens in a test, and the questions after each of these.
CHANGES = int(os.environ.get('KS_ROUNDS', 100)) * 3
QUESTIONS = 6
SEED = os.environ.get('KS_SEED', '1')

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
        self.clients = self.keystones(
            self.memcached(),
            options={'cache_counters': counters},
            processes=2,
            second={'token': {'validation_cache': False}},
        )
        self.kept, self.past = self.clients
        self.caller = self.kept.issue(keystones.ADMIN, client.ADMIN_PROJECT)
        self.roles = [
            role['id']
            for role in self.request('GET', '/roles')['roles']
            if role['name'] in ('member', 'reader')
        ]
        self.service = self.create('service', type='compute')
        self.projects = [
            self.make(self.kept, 'project', name=f'p{n}') for n in range(3)
        ]
        self.users = [
            self.make(self.kept, 'user', name=f'u{n}', password='secret')
            for n in range(3)
        ]
        self.passwords = dict.fromkeys(self.users, 'secret')
        self.endpoints, self.credentials, self.tokens = [], [], []
        for user in self.users:
            for project in self.projects:
                self.request('PUT', self.grant(user, project))
        for _ in range(4):
            self.issue()

    # Requests.

    def authenticate(self, identity, scope=None):
        """A token, or None."""
        answer = self.any(self.clients).authenticate(identity, scope)
        return answer.headers.get('x-subject-token')

    def of_user(self, user):
        return client.password(self.passwords[user], id=user)

    def keep(self, token):
        self.tokens += [token] if token else []

    def request(self, method, path, body=None, token=None):
        """The answer, or None if it was refused."""
        node = self.any(self.clients)
        answer = node.ask(method, path, token or self.caller, body)
        self.assertLess(0, answer.status, (method, path, answer))
        self.assertLess(answer.status, 500, (method, path, answer))
        return answer.body if answer.status < 300 else None

    def create(self, kind, **values):
        return self.request('POST', f'/{kind}s', {kind: values})[kind]['id']

    def any(self, things):
        return self.dice.choice(things)

    def grant(self, user, project):
        role = self.any(self.roles)
        return f'/projects/{project}/users/{user}/roles/{role}'

    # What happens.

    def issue(self):
        user = self.any(self.users)
        project = {'project': {'id': self.any(self.projects)}}
        scope = self.any((project, project, None))
        self.keep(self.authenticate(self.of_user(user), scope))
        del self.tokens[:-6]

    def rescope(self):
        token = {'id': self.any(self.tokens)}
        self.keep(
            self.authenticate(
                {'methods': ['token'], 'token': token},
                {'project': {'id': self.any(self.projects)}},
            )
        )

    def use_credential(self):
        if self.credentials:
            _, credential = self.any(self.credentials)
            method = 'application_credential'
            self.keep(
                self.authenticate({'methods': [method], method: credential})
            )

    def make_credential(self):
        user = self.any(self.users)
        token = self.authenticate(
            self.of_user(user), {'project': {'id': self.any(self.projects)}}
        )
        made = token and self.request(
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
            self.request('DELETE', path)

    def revoke(self):
        query = self.any(('', '?cascade=false'))
        node = self.any(self.clients)
        node.about('DELETE', self.caller, self.any(self.tokens), query)

    def change_grant(self):
        path = self.grant(self.any(self.users), self.any(self.projects))
        self.request(self.any(('PUT', 'DELETE')), path)

    def change_user(self):
        values = {'enabled': self.dice.random() < 0.7}
        if self.dice.random() < 0.3:
            values = {'name': f'u{self.dice.random()}'}
        self.request(
            'PATCH', f'/users/{self.any(self.users)}', {'user': values}
        )

    def change_password(self):
        user = self.any(self.users)
        self.passwords[user] = f'secret{self.dice.random()}'
        values = {'password': self.passwords[user]}
        self.request('PATCH', f'/users/{user}', {'user': values})

    def change_project(self):
        values = {'enabled': self.dice.random() < 0.7}
        if self.dice.random() < 0.3:
            values = {'name': f'p{self.dice.random()}'}
        path = f'/projects/{self.any(self.projects)}'
        self.request('PATCH', path, {'project': values})

    def change_catalog(self):
        if len(self.endpoints) > 3:
            self.request('DELETE', f'/endpoints/{self.endpoints.pop()}')
            return
        self.endpoints.append(
            self.create(
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
                self.request(
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

    def asked(self, node, method, query, caller, subject):
        answer = node.about(method, caller, subject, query)
        # The address of the one that was asked.
        port = str(node.port)
        shown = {
            name: value.replace(port, 'PORT')
            for name, value in answer.headers.items()
            if name not in ('x-openstack-request-id', 'date')
        }
        if 'roles' in (answer.body or {}).get('token', ()):
            # They come in no order.
            answer.body['token']['roles'].sort(key=str)
        return answer.status, shown, answer.body

    def test_random_changes(self):
        valid = 0
        for number in range(CHANGES):
            name = self.happen()
            for _ in range(QUESTIONS):
                subject = self.any(self.tokens)
                question = (
                    self.any(('GET', 'GET', 'GET', 'HEAD')),
                    self.any(_QUERIES),
                    self.any((self.caller, subject)),
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
