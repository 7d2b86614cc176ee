# SPDX-License-Identifier: Apache-2.0

"""Two Keystones of two workers each: write on one, validate on the other."""

import os

from patchset import client
from patchset.livetests import keystones

ROUNDS = int(os.environ.get('KS_ROUNDS', 100))

# Both workers of a Keystone are to have answered.
_ASKED = 4


class ValidationCacheTests(keystones.KeystonesTestCase):
    """No answer that was kept outlives a write that was answered."""

    def setUp(self):
        super().setUp()
        self.writer, self.reader = self.keystones(
            self.memcached(), processes=2
        )
        self.caller = self.writer.issue(keystones.ADMIN, client.ADMIN_PROJECT)

    def statuses(self, subject):
        """What the workers of the other Keystone answer about a token."""
        return {
            self.reader.validate(self.caller, subject) for _ in range(_ASKED)
        }

    def test_nothing_outlives_a_write(self):
        node = self.writer
        roles = self.write(node, 'GET', '/roles?name=member')['roles']
        stale = []
        for number in range(ROUNDS):
            project = self.make(node, 'project', name=f'p{number}')
            user = self.make(
                node, 'user', name=f'u{number}', password='secret'
            )
            grant = f'/projects/{project}/users/{user}/roles/{roles[0]["id"]}'
            self.write(node, 'PUT', grant)
            subject = node.issue(
                client.password('secret', id=user),
                {'project': {'id': project}},
            )
            self.assertEqual({200}, self.statuses(subject))
            self.assertEqual({200}, self.statuses(subject))
            writes = (
                ('DELETE', grant),
                (
                    'PATCH',
                    f'/projects/{project}',
                    {'project': {'enabled': False}},
                ),
                ('PATCH', f'/users/{user}', {'user': {'enabled': False}}),
                ('DELETE', f'/users/{user}'),
                ('PATCH', f'/users/{user}', {'user': {'password': 'another'}}),
                None,
            )
            write = writes[number % len(writes)]
            if write is None:
                self.assertEqual(204, node.revoke(self.caller, subject))
            else:
                self.write(node, *write)
            if 200 in self.statuses(subject):
                stale.append((number, write))
            self.assertEqual({200}, self.statuses(self.caller))
        self.assertEqual([], stale)
