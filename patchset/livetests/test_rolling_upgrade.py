# SPDX-License-Identifier: Apache-2.0

"""A stock and a patched Keystone side by side, as the upgrade guide has them.

They share the database, the keys and a memcached, and both cache all that they
cache where nothing is set.
"""

import http.client
import itertools
import json
import urllib.parse

from bench import signing
from patchset.livetests import keystones

_DEFAULT = {'domain': {'id': 'default'}}
_ADMIN = {'project': {'name': 'admin', **_DEFAULT}}
_ACCEPTED, _REFUSED = http.client.OK, http.client.NOT_FOUND


class Something:
    """What is changed through one node while the other one knows it.

    :param test: the test, whose nodes are ``acting`` and ``asked``
    """

    def __init__(self, test, acting, asked):
        self.test = test
        self.acting, self.asked = acting, asked
        name = test.name()
        self.user = self.make('user', name=name, password='secret')
        self.project = self.make('project', name=name)
        self.grant = (
            f'/projects/{self.project}/users/{self.user}/roles/{test.role}'
        )
        self.write('PUT', self.grant)
        self.identity = {
            'methods': ['password'],
            'password': {'user': {'id': self.user, 'password': 'secret'}},
        }
        self.scope = {'project': {'id': self.project}}

    def make(self, kind, **values):
        body = {kind: {'domain_id': 'default', **values}}
        return self.write('POST', f'/{kind}s', body)[kind]['id']

    def write(self, method, path, body=None, node=None, caller=None):
        return self.test.write(node or self.acting, method, path, body, caller)

    def token(self):
        return self.asked.issue(scope=self.scope, **self.identity)

    def disable(self, kind):
        path = f'/{kind}s/{getattr(self, kind)}'
        self.write('PATCH', path, {kind: {'enabled': False}})

    def application_credential(self):
        """A token of an application credential, and that one's path."""
        path = f'/users/{self.user}/application_credentials'
        secret = self.write(
            'POST', path, {'application_credential': {'name': 'one'}},
            caller=self.token(),
        )['application_credential']  # fmt: skip
        token = self.asked.issue(
            methods=['application_credential'],
            application_credential={
                'id': secret['id'],
                'secret': secret['secret'],
            },
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
    root = one.asked.issue(**one.identity)
    made = one.asked.issue(
        scope=one.scope, methods=['token'], token={'id': root}
    )
    yield [root, made]
    one.test.revoke(one.acting, root)
    yield [root, made]


def _disable_user(one):
    token = one.token()
    yield [token]
    one.disable('user')
    yield [token]


def _disable_project(one):
    token = one.token()
    yield [token]
    one.disable('project')
    yield [token]


def _delete_user(one):
    token = one.token()
    yield [token]
    one.write('DELETE', f'/users/{one.user}')
    yield [token]


def _change_password(one):
    token = one.token()
    yield [token]
    user = {'password': 'another'}
    one.write('PATCH', f'/users/{one.user}', {'user': user})
    yield [token]


def _remove_grant(one):
    token = one.token()
    yield [token]
    one.write('DELETE', one.grant)
    yield [token]


def _delete_application_credential(one):
    token, path = one.application_credential()
    yield [token]
    one.write('DELETE', path, caller=one.token())
    yield [token]


_ACTIONS = (
    _revoke,
    _revoke_chain,
    _disable_user,
    _disable_project,
    _delete_user,
    _change_password,
    _remove_grant,
    _delete_application_credential,
)


class RollingUpgradeTests(keystones.KeystonesTestCase):
    """What is done through one node, and what the other one says then."""

    def setUp(self):
        super().setUp()
        (self.patched, self.stock), password = self.keystones(
            self.memcached(), stock=('two',)
        )
        self.names = (f'side-by-side-{n}' for n in itertools.count())
        user = {'name': 'admin', 'password': password, **_DEFAULT}
        self.caller = self.patched.issue(
            scope=_ADMIN, methods=['password'], password={'user': user}
        )
        _, answer = self.patched.read('/roles?name=member', self.caller)
        self.role = answer['roles'][0]['id']
        # Each is what it is taken for: stock does not know this form.
        moment = urllib.parse.quote('Sun, 06 Nov 2050 08:49:37 GMT')
        path = f'/OS-REVOKE/events?since={moment}'
        self.assertEqual(
            [http.client.OK, http.client.BAD_REQUEST],
            [
                node.call('GET', path, self.caller)[0]
                for node in (self.patched, self.stock)
            ],
        )

    def name(self):
        return next(self.names)

    def write(self, node, method, path, body=None, caller=None):
        status, _, answer = node.call(
            method, path, caller or self.caller, body=body
        )
        self.assertIn(status, (200, 201, 204), (method, path, answer))
        return json.loads(answer) if answer else None

    def revoke(self, node, token):
        self.assertEqual(
            http.client.NO_CONTENT, node.revoke(self.caller, token)
        )

    def orders(self):
        """The one that acts and the one that is asked: each of the two."""
        return (self.stock, self.patched), (self.patched, self.stock)

    def know(self, tokens):
        """Have both asked twice: the second answer may come from a cache."""
        for token in tokens:
            for node in (self.patched, self.stock) * 2:
                self.assertEqual(_ACCEPTED, node.validate(self.caller, token))

    def statuses(self, action, acting, asked):
        """What both say of tokens after an action, first the one asked."""
        steps = action(Something(self, acting, asked))
        self.know(next(steps))
        tokens = next(steps)
        statuses = [
            {node.validate(self.caller, token) for token in tokens}
            for node in (asked, acting)
        ]
        self.know(next(steps, ()))
        return statuses

    def shown(self, node):
        """The catalog that a node shows with the caller's token."""
        _, _, answer = node.call(
            'GET', '/auth/tokens', self.caller, self.caller
        )
        return json.loads(answer)['token']['catalog']

    def key_of_admin(self, node):
        """An access key of the admin, its secret, and the path of both."""
        token = json.loads(
            node.call('GET', '/auth/tokens', self.caller, self.caller)[2]
        )['token']
        path = f'/users/{token["user"]["id"]}/credentials/OS-EC2'
        credential = self.write(
            node, 'POST', path, {'tenant_id': token['project']['id']}
        )['credential']
        access = credential['access']
        return (access, credential['secret']), f'{path}/{access}'

    def sign(self, node, key):
        """Status of the answer to a signed request."""
        return node.call(
            'POST', '/ec2tokens', self.caller, body=signing.ec2(*key)
        )[0]

    def known_key(self, acting):
        key, path = self.key_of_admin(acting)
        for node in (self.patched, self.stock) * 2:
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
            self.assertIn('before.example', str(self.shown(node)))
        self.write(
            acting, 'PATCH', f'{path}/{made["endpoint"]["id"]}',
            {'endpoint': {'url': 'http://after.example'}},
        )  # fmt: skip
        for node in (asked, acting):
            self.assertNotIn('before.example', str(self.shown(node)))
            self.assertIn('after.example', str(self.shown(node)))
        self.write(acting, 'DELETE', f'/services/{service}')
        for node in (asked, acting):
            self.assertNotIn('after.example', str(self.shown(node)))

    def check_credential(self, acting, asked):
        key, path = self.known_key(acting)
        self.write(acting, 'DELETE', path)
        for node in (asked, acting):
            self.assertEqual(_REFUSED, self.sign(node, key))

    def test_each_sees_what_the_other_does(self):
        """Whatever is done through one is seen by the other at once."""
        for acting, asked in self.orders():
            for action in _ACTIONS:
                self.assertEqual(
                    [{_REFUSED}] * 2,
                    self.statuses(action, acting, asked),
                    (action.__name__, acting is self.stock),
                )
            self.check_catalog(acting, asked)
            self.check_credential(acting, asked)
