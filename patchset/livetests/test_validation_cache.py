# SPDX-License-Identifier: Apache-2.0

"""Two Keystones of two workers each: write on one, validate on the other."""

import http.client
import json
import os

from patchset.livetests import keystones

ROUNDS = int(os.environ.get('KS_ROUNDS', 100))

# Both workers of a Keystone are to have answered.
_ASKED = 4


class ValidationCacheTests(keystones.KeystonesTestCase):
    """No answer that was kept outlives a write that was answered."""

    def setUp(self):
        super().setUp()
        clients, password = self.keystones(self.memcached(), processes=2)
        self.writer, self.reader = clients
        self.admin = self.sign_in('admin', password, 'admin')

    def sign_in(self, name, password, project):
        domain = {'id': 'default'}
        user = {'name': name, 'password': password, 'domain': domain}
        body = {
            'auth': {
                'identity': {
                    'methods': ['password'],
                    'password': {'user': user},
                },
                'scope': {'project': {'name': project, 'domain': domain}},
            }
        }
        status, token = self.writer.ask('POST', '/auth/tokens', body=body)
        self.assertEqual(http.client.CREATED, status)
        return token

    def write(self, method, path, body=None):
        status, answer = self.call(method, path, body)
        self.assertIn(status, (200, 201, 204), (method, path, answer))
        return answer

    def call(self, method, path, body=None):
        """Status and body of the answer to a request of the admin."""
        status, _, text = self.writer.call(method, path, self.admin, body=body)
        return status, json.loads(text) if text else None

    def make(self, kind, **values):
        body = {kind: {'domain_id': 'default', **values}}
        return self.write('POST', f'/{kind}s', body)[kind]['id']

    def statuses(self, subject):
        """What the workers of the other Keystone answer about a token."""
        return {
            self.reader.validate(self.admin, subject) for _ in range(_ASKED)
        }

    def test_nothing_outlives_a_write(self):
        role = self.write('GET', '/roles?name=member')['roles'][0]['id']
        stale = []
        for number in range(ROUNDS):
            project = self.make('project', name=f'p{number}')
            user = self.make('user', name=f'u{number}', password='secret')
            grant = f'/projects/{project}/users/{user}/roles/{role}'
            self.write('PUT', grant)
            subject = self.sign_in(f'u{number}', 'secret', f'p{number}')
            self.assertEqual({200}, self.statuses(subject))
            self.assertEqual({200}, self.statuses(subject))
            writes = (
                ('DELETE', grant, None),
                (
                    'PATCH',
                    f'/projects/{project}',
                    {'project': {'enabled': False}},
                ),
                ('PATCH', f'/users/{user}', {'user': {'enabled': False}}),
                ('DELETE', f'/users/{user}', None),
                ('PATCH', f'/users/{user}', {'user': {'password': 'another'}}),
                None,
            )
            write = writes[number % len(writes)]
            if write is None:
                status = self.writer.revoke(self.admin, subject)
                self.assertEqual(204, status)
            else:
                self.write(*write)
            if 200 in self.statuses(subject):
                stale.append((number, write))
            self.assertEqual({200}, self.statuses(self.admin))
        self.assertEqual([], stale)
