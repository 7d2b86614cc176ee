# SPDX-License-Identifier: Apache-2.0

"""Validations by many threads and nodes while what they return changes.

Each response must be of its own token, and contain everything that was
written before the request began.
"""

from concurrent import futures
import http.client
import itertools
import os
import random
import threading
import uuid

from patchset import client
from patchset.tests.integration import keystones

REQUESTS = int(os.environ.get('KS_REQUESTS', 100))  # of each reader
READERS = 6
USERS = 3


class Changing:
    """Something that changes all the time.

    :param change: function that makes a version visible: 0, 1, 2, and so on
    :param read: function that returns whether a token shows a version
    """

    def __init__(self, change, read):
        self.change = change
        self.read = read
        self.begun = self.completed = 0

    def advance(self):
        """Make the next version visible."""
        self.begun += 1
        self.change(self.begun)
        self.completed = self.begun


class ConcurrentRequestsTests(keystones.KeystonesTestCase):
    def setUp(self):
        super().setUp()
        self.nodes = self.keystones(
            self.memcached(), processes=2, threads=8,
        )  # fmt: skip
        self.one = self.nodes[0]
        self.caller = self.one.issue(keystones.ADMIN, client.ADMIN_PROJECT)
        self.roles = {
            role['name']: role['id']
            for role in self.write(self.one, 'GET', '/roles')['roles']
        }
        service = self.write(
            self.one, 'POST', '/services', {'service': {'type': 'compute'}}
        )
        self.endpoint = self.write(
            self.one, 'POST', '/endpoints',
            {
                'endpoint': {
                    'service_id': service['service']['id'],
                    'interface': 'public',
                    'url': self.url(0),
                }
            },
        )['endpoint']['id']  # fmt: skip

    def url(self, version):
        return f'https://{version}.example.com/%(project_id)s/%(user_id)s'

    def node(self):
        return random.choice(self.nodes)

    def patch(self, kind, one, **values):
        path = f'/{kind}s/{one}'
        self.write(self.node(), 'PATCH', path, {kind: values})

    def subject(self, number):
        """A user with a token: (token, project, user, what changes of it)."""
        secret = uuid.uuid4().hex
        project = self.make(self.one, 'project', name=f'0-{uuid.uuid4().hex}')
        user = self.make(
            self.one, 'user', name=f'0-{uuid.uuid4().hex}', password=secret
        )
        path = f'/projects/{project}/users/{user}/roles/'
        self.write(self.one, 'PUT', path + self.roles['member'])
        token = self.one.issue(
            client.password(secret, id=user), {'project': {'id': project}}
        )
        changing = [
            Changing(
                lambda version: self.patch(
                    'user', user, name=f'{version}-{user}'
                ),
                lambda token, version: named(token['user'], version),
            ),
            Changing(
                lambda version: self.patch(
                    'project', project, name=f'{version}-{project}'
                ),
                lambda token, version: named(token['project'], version),
            ),
            Changing(self.granting(number, user, project), is_granted),
        ]
        return token, project, user, changing

    def granting(self, number, user, project):
        """Grants a role in odd versions, and removes it in even ones."""
        path = f'/projects/{project}/users/{user}'
        if number % 3:
            name = uuid.uuid4().hex
            group = self.make(self.one, 'group', name=name)
            self.write(self.one, 'PUT', f'/groups/{group}/users/{user}')
            path = f'/projects/{project}/groups/{group}'
        path += f'/roles/{self.roles["manager"]}'
        if number % 3 == 2:
            path = (
                f'/OS-INHERIT/domains/default/groups/{group}/roles/'
                f'{self.roles["manager"]}/inherited_to_projects'
            )
        return lambda version: self.write(
            self.node(), 'PUT' if version % 2 else 'DELETE', path
        )

    def test_own_and_not_older_than_a_completed_write(self):
        subjects = [self.subject(number) for number in range(USERS)]
        catalog = Changing(
            lambda version: self.patch(
                'endpoint', self.endpoint, url=self.url(version)
            ),
            lambda token, version: shown(token).startswith(
                f'https://{version}.'
            ),
        )
        writers = [catalog, *itertools.chain(*(one[3] for one in subjects))]
        over = threading.Event()
        with futures.ThreadPoolExecutor(READERS + len(writers)) as pool:
            writing = [pool.submit(self.write_until, over, w) for w in writers]
            reading = [
                pool.submit(self.validate, subjects, catalog)
                for _ in range(READERS)
            ]
            try:
                flaws = [flaw for one in reading for flaw in one.result()]
            finally:
                over.set()
            for one in writing:
                one.result()
        self.assertEqual([], flaws[:3])

    def write_until(self, over, one):
        """Change something, at least twice."""
        while one.completed < 2 or not over.wait(random.random()):
            one.advance()

    def validate(self, subjects, catalog):
        """Validate random tokens; return what is wrong with the responses."""
        return [
            flaw
            for _ in range(REQUESTS)
            for flaw in self.flaws(*random.choice(subjects), catalog)
        ]

    def flaws(self, token, project, user, changing, catalog):
        before = [(one, one.completed) for one in (catalog, *changing)]
        answer = self.node().about('GET', self.caller, token)
        if answer.status != http.client.OK:
            return [answer]
        found = answer.body['token']
        flaws = []
        if (found['user']['id'], found['project']['id']) != (user, project):
            flaws.append(('of another token', found, user, project))
        if not shown(found).endswith(f'/{project}/{user}'):
            flaws.append(('catalog of another', found, user, project))
        for one, completed in before:
            versions = range(completed, one.begun + 1)
            if not any(one.read(found, version) for version in versions):
                flaws.append(('outdated', versions, found))
        return flaws


def named(shown, version):
    """Whether a user or a project has the name of a version."""
    return shown['name'].startswith(f'{version}-')


def is_granted(token, version):
    names = {role['name'] for role in token['roles']}
    return ('manager' in names) == (version % 2 == 1)


def shown(token):
    """The URL of the only endpoint that changes; empty if it is missing."""
    return ''.join(
        endpoint['url']
        for service in token['catalog']
        for endpoint in service['endpoints']
        if service['type'] == 'compute'
    )
