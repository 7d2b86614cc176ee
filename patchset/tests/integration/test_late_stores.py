# SPDX-License-Identifier: Apache-2.0

"""Changes while other processes store what they have read before.

What is stored in memcached is delayed, so that many a value arrives after a
change that has made it outdated.
"""

from concurrent import futures
import http.client
import os
import random
import threading
import time

from patchset import client
from patchset.services import memcached
from patchset.tests.integration import keystones
from patchset.tests.integration import relay

ROUNDS = int(os.environ.get('KS_ROUNDS', 4))
CHANGES = 15  # of each kind in a round; odd, so that rounds end differently
READERS = 6
LATE = 0.1  # seconds of a delay at most
_RENAMED = ('user', 'project', 'role')
_IMPLIED = 'implied'  # name of a role


class _SlowStores(relay.Relay):
    """Delays half of the values that clients store."""

    def hand_on(self, data, target, is_client):
        is_stored = is_client and data.startswith((b'set ', b'cas '))
        if is_stored and random.random() < 0.5:
            time.sleep(random.uniform(0, LATE))
        super().hand_on(data, target, is_client)


class LateStoresTestCase(keystones.KeystonesTestCase):
    def setUp(self):
        super().setUp()
        slow = _SlowStores(self.enterContext(memcached.Memcached()).port)
        self.addCleanup(slow.close)
        cache = f'memcached://127.0.0.1:{slow.port}'
        self.nodes = self.keystones(cache, processes=2)
        one = self.nodes[0]
        self.caller = one.issue(keystones.ADMIN, client.ADMIN_PROJECT)
        self.ids = {
            'user': self.make(one, 'user', name='user', password='own'),
            'project': self.make(one, 'project', name='project'),
        }
        for role in ('role', _IMPLIED):
            body = {'role': {'name': role}}
            made = self.write(one, 'POST', '/roles', body)
            self.ids[role] = made['role']['id']
        self.names = {name: name for name in _RENAMED}
        self.roles = set()  # those that are implied
        self.change('PUT', '/projects/{project}/users/{user}/roles/{role}')
        self.token = one.issue(
            client.password('own', id=self.ids['user']),
            {'project': {'id': self.ids['project']}},
        )

    def change(self, method, path, body=None):
        path = path.format_map(self.ids)
        self.write(random.choice(self.nodes), method, path, body)

    def rename(self, kind):
        for _ in range(CHANGES):
            name = f'{kind} {time.monotonic()}'
            self.change(
                'PATCH', f'/{kind}s/{{{kind}}}', {kind: {'name': name}}
            )
            self.names[kind] = name

    def imply(self):
        for _ in range(CHANGES):
            method = 'DELETE' if self.roles else 'PUT'
            self.change(method, '/roles/{role}/implies/{implied}')
            self.roles ^= {_IMPLIED}

    def shown(self, node):
        """Names of user and project, and all roles, of a validation."""
        answer = node.about('GET', self.caller, self.token)
        self.assertEqual(http.client.OK, answer.status, answer)
        token = answer.body['token']
        roles = {role['name'] for role in token['roles']}
        return token['user']['name'], token['project']['name'], roles

    def change_all(self):
        """Make changes while both nodes validate the token."""
        is_over = threading.Event()

        def read(number):
            while not is_over.is_set():
                self.shown(self.nodes[number % 2])

        with futures.ThreadPoolExecutor(READERS + len(_RENAMED) + 1) as pool:
            readers = [pool.submit(read, number) for number in range(READERS)]
            changes = [pool.submit(self.rename, kind) for kind in _RENAMED]
            changes.append(pool.submit(self.imply))
            futures.wait(changes)
            is_over.set()
            for one in (*changes, *readers):
                one.result()

    def test_no_change_is_hidden(self):
        for _ in range(ROUNDS):
            self.change_all()
            user, project, role = (self.names[kind] for kind in _RENAMED)
            expected = user, project, {role, *self.roles}
            # Most likely by each of the processes.
            for node in self.nodes * 4:
                self.assertEqual(expected, self.shown(node))
