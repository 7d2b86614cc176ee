# SPDX-License-Identifier: Apache-2.0

"""Two Keystones side by side: change on one, ask the other.

A stock and a patched one, as the upgrade guide has them, or two patched ones
of two workers each. They share the database, the keys and a memcached, and
cache all that they cache where nothing is set.
"""

import http.client
import itertools
import os
import urllib.parse

from bench import signing
from patchset import client
from patchset.tests.integration import keystones

ROUNDS = int(os.environ.get('KS_ROUNDS', 100)) // 20 or 1
_ACCEPTED, _REFUSED = http.client.OK, http.client.NOT_FOUND


class Something:
    """What is changed through one node while the other one knows it.

    :param test: the test, whose nodes are ``acting`` and ``asked``
    """

    def __init__(self, test, acting, asked):
        self.test = test
        self.acting, self.asked = acting, asked
        name = test.name()
        self.user = test.make(acting, 'user', name=name, password='secret')
        self.project = test.make(acting, 'project', name=name)
        self.grant = (
            f'/projects/{self.project}/users/{self.user}/roles/{test.role}'
        )
        self.write('PUT', self.grant)
        self.identity = client.password('secret', id=self.user)
        self.scope = {'project': {'id': self.project}}

    def write(self, *request, **options):
        return self.test.write(self.acting, *request, **options)

    def token(self):
        return self.asked.issue(self.identity, self.scope)

    def change(self, kind, **values):
        path = f'/{kind}s/{getattr(self, kind)}'
        self.write('PATCH', path, {kind: values})

    def application_credential(self):
        """A token of an application credential, and that one's path."""
        path = f'/users/{self.user}/application_credentials'
        secret = self.write(
            'POST', path, {'application_credential': {'name': 'one'}},
            token=self.token(),
        )['application_credential']  # fmt: skip
        token = self.asked.issue(
            {
                'methods': ['application_credential'],
                'application_credential': {
                    'id': secret['id'],
                    'secret': secret['secret'],
                },
            }
        )
        return token, f'{path}/{secret["id"]}'


# What is done to tokens through one node, so that the other refuses them. Each
# makes the tokens, has them checked, and acts.


def _revoke(one):
    token, other = one.token(), one.token()
    yield [token, other]
    one.test.revoke(one.acting, token)
    yield [token]
    yield [other]


def _revoke_chain(one):
    root = one.asked.issue(one.identity)
    made = one.asked.issue(
        {'methods': ['token'], 'token': {'id': root}}, one.scope
    )
    yield [root, made]
    one.test.revoke(one.acting, root)
    yield [root, made]


def _delete_application_credential(one):
    token, path = one.application_credential()
    yield [token]
    one.write('DELETE', path, token=one.token())
    yield [token]


def _to_one_token(act):
    """An action on a single token, of the user for the project."""

    def action(one):
        token = one.token()
        yield [token]
        act(one)
        yield [token]

    return action


_ACTIONS = {
    'revoke': _revoke,
    'revoke chain': _revoke_chain,
    'disable user': _to_one_token(
        lambda one: one.change('user', enabled=False)
    ),
    'disable project': _to_one_token(
        lambda one: one.change('project', enabled=False)
    ),
    'delete user': _to_one_token(
        lambda one: one.write('DELETE', f'/users/{one.user}')
    ),
    'change password': _to_one_token(
        lambda one: one.change('user', password='another')
    ),
    'remove grant': _to_one_token(lambda one: one.write('DELETE', one.grant)),
    'delete application credential': _delete_application_credential,
}


class _SideBySide(keystones.KeystonesTestCase):
    """What is done through one node, and what the other one says then."""

    choice = {}  # of the nodes
    times = 2  # to ask: a second answer may come from a cache

    def setUp(self):
        super().setUp()
        self.nodes = self.keystones(self.memcached(), **self.choice)
        self.names = (f'side-by-side-{n}' for n in itertools.count())
        one, _ = self.nodes
        self.caller = one.issue(keystones.ADMIN, client.ADMIN_PROJECT)
        roles = self.write(one, 'GET', '/roles?name=member')['roles']
        self.role = roles[0]['id']

    def name(self):
        return next(self.names)

    def revoke(self, node, token):
        self.assertEqual(
            http.client.NO_CONTENT, node.revoke(self.caller, token)
        )

    def know(self, tokens):
        """Have both asked until the answer may come from a cache."""
        for token in tokens:
            for node in self.nodes * self.times:
                self.assertEqual(_ACCEPTED, node.validate(self.caller, token))

    def statuses(self, action, acting, asked):
        """What both say of tokens after an action, first the one asked."""
        steps = action(Something(self, acting, asked))
        self.know(next(steps))
        tokens = next(steps)
        statuses = [
            {
                node.validate(self.caller, token)
                for token in tokens * self.times
            }
            for node in (asked, acting)
        ]
        self.know(next(steps, ()))
        return statuses

    def shown(self, node):
        """What a node shows of the caller's token."""
        return node.about('GET', self.caller, self.caller).body['token']

    def catalog(self, node):
        return str(self.shown(node)['catalog'])

    def key_of_admin(self, node):
        """An access key of the admin, its secret, and the path of both."""
        token = self.shown(node)
        path = f'/users/{token["user"]["id"]}/credentials/OS-EC2'
        credential = self.write(
            node, 'POST', path, {'tenant_id': token['project']['id']}
        )['credential']
        access = credential['access']
        return (access, credential['secret']), f'{path}/{access}'

    def sign(self, node, key):
        """Status of the answer to a signed request."""
        body = signing.ec2(*key)
        return node.ask('POST', '/ec2tokens', self.caller, body).status

    def known_key(self, acting):
        key, path = self.key_of_admin(acting)
        for node in self.nodes * self.times:
            self.assertEqual(_ACCEPTED, self.sign(node, key))
        return key, path

    def check_catalog(self, acting, asked):
        service = self.write(
            acting, 'POST', '/services', {'service': {'type': self.name()}}
        )['service']['id']
        endpoint = {
            'interface': 'public',
            'service_id': service,
            'url': 'http://before.example',
        }
        path = '/endpoints'
        made = self.write(acting, 'POST', path, {'endpoint': endpoint})
        for node in (acting, asked, asked):
            self.assertIn('before.example', self.catalog(node))
        self.write(
            acting, 'PATCH', f'{path}/{made["endpoint"]["id"]}',
            {'endpoint': {'url': 'http://after.example'}},
        )  # fmt: skip
        for node in (asked, acting):
            self.assertNotIn('before.example', self.catalog(node))
            self.assertIn('after.example', self.catalog(node))
        self.write(acting, 'DELETE', f'/services/{service}')
        for node in (asked, acting):
            self.assertNotIn('after.example', self.catalog(node))

    def check_credential(self, acting, asked):
        key, path = self.known_key(acting)
        self.write(acting, 'DELETE', path)
        for node in (asked, acting):
            self.assertEqual(_REFUSED, self.sign(node, key))

    def check_each(self):
        """Whatever is done through one is seen by the other at once."""
        for acting, asked in (self.nodes[::-1], self.nodes):
            for name, action in _ACTIONS.items():
                self.assertEqual(
                    [{_REFUSED}] * 2,
                    self.statuses(action, acting, asked),
                    (name, acting.name),
                )
            self.check_catalog(acting, asked)
            self.check_credential(acting, asked)


class RollingUpgradeTests(_SideBySide):
    choice = {'stock': ('two',)}

    def test_each_sees_what_the_other_does(self):
        # Each is what it is taken for: stock does not know this form.
        moment = urllib.parse.quote('Sun, 06 Nov 2050 08:49:37 GMT')
        path = f'/OS-REVOKE/events?since={moment}'
        self.assertEqual(
            [http.client.OK, http.client.BAD_REQUEST],
            [node.ask('GET', path, self.caller).status for node in self.nodes],
        )
        self.check_each()


class TwoPatchedTests(_SideBySide):
    choice = {'processes': 2}
    times = 4  # so that both workers have answered

    def test_each_sees_what_the_other_does(self):
        for _ in range(ROUNDS):
            self.check_each()
