# SPDX-License-Identifier: Apache-2.0

"""One cloud of the two: its nodes, and what a story has made there."""

import dataclasses
import time

from patchset import client
from patchset import preparation
from patchset.walk import story

ADMIN = 'by-admin'  # name of the admin's token
SELF = 'self'  # stands for the token itself, as its caller


@dataclasses.dataclass(frozen=True)
class Token:
    """A token of the pool.

    :param value: what is sent; never printed
    :param caller: name of the token that validates it
    """

    value: str
    caller: str


class Side:
    """One cloud.

    :param name: ``stock`` or ``patched``
    :param nodes: list of :class:`patchset.client.Client`
    :param rig: the :class:`patchset.walk.rig.Rig`
    """

    def __init__(self, name, nodes, rig):
        self.name = name
        self.nodes = nodes
        self.rig = rig
        self.ids = {}  # name: id of what is there
        self.names = {}  # id: name, of what is gone as well
        self.kept = {}  # name: what else the story has to know of it
        self.keys = {}  # name: access key and secret, of what is gone as well
        self.tokens = {}
        self.node = nodes[0]
        self._written = 0

    def sign_in(self, password):
        """Have a token of the admin, and know what Keystone has made."""
        answer = self.ask_for_token(
            client.password(password), client.ADMIN_PROJECT
        )
        self.keep_token(ADMIN, answer, ADMIN)
        self.names[answer.body['token']['user']['id']] = 'admin'
        self.names[answer.body['token']['project']['id']] = 'admin'
        self.ids['default'] = 'default'
        for role in self.ask('GET', '/roles').body['roles']:
            self.add(role['name'], role['id'])

    # Names.

    def add(self, name, identifier):
        """Note what is there from now on."""
        self.ids[name] = identifier
        self.names[identifier] = name

    def id(self, name):
        """Id of something that is there.

        :raises patchset.walk.story.Absent: it is not
        """
        try:
            return self.ids[name]
        except KeyError:
            raise story.Absent(name)

    def must_not_be(self, name):
        """:raises patchset.walk.story.Absent: it is there already"""
        if name in self.ids:
            raise story.Absent(name)

    def forget(self, *names):
        """Note what is gone."""
        for name in names:
            self.ids.pop(name, None)
            self.kept.pop(name, None)

    def token(self, name):
        """A token's value.

        :raises patchset.walk.story.Absent: the pool has none of that name
        """
        try:
            return self.tokens[name].value
        except KeyError:
            raise story.Absent(name)

    # Requests.

    def ask(self, method, path, body=None, token=None, headers=None):
        """Have the step's node do something, as the admin by default."""
        token = token or self.token(ADMIN)
        self._forget()
        answer = self.node.ask(method, path, token, body, headers)
        if method not in ('GET', 'HEAD'):
            self.note_write()
        return answer

    def make(self, kind, name, path=None, /, **values):
        """Create something that has no id of its own choice."""
        self.must_not_be(name)
        answer = self.ask('POST', path or f'/{kind}s', {kind: values})
        if answer.status == 201:
            self.add(name, answer.body[kind]['id'])
        return answer

    def change(self, kind, name, path=None, /, **values):
        """Update something."""
        path = f'{path or f"/{kind}s"}/{self.id(name)}'
        return self.ask('PATCH', path, {kind: values})

    def remove(self, path, *names):
        """Delete something, and forget it if that was done."""
        answer = self.ask('DELETE', path)
        if answer.status == 204:
            self.forget(*names)
        return answer

    def _forget(self):
        # Stock's own cache must not decide what is compared.
        if self.name == 'stock':
            self.rig.forget('stock')

    def ask_for_token(self, identity, scope=None):
        """The answer to a sign-in."""
        self.let_second_pass()
        self._forget()
        return self.node.authenticate(identity, scope)

    def keep_token(self, name, answer, caller):
        """Put what a sign-in gave into the pool; return the answer."""
        if answer.status in (200, 201) and 'x-subject-token' in answer.headers:
            value = answer.headers['x-subject-token']
            self.tokens[name] = Token(value, caller)
        return answer

    def note_write(self):
        """Note that tokens may have been revoked up to now."""
        self._written = time.time()

    def let_second_pass(self):
        """Wait until a new token is not of the same second as a revocation.

        Both are recorded in whole seconds, and a token of the same second is
        refused, on stock as well.
        """
        while int(time.time()) <= int(self._written):
            time.sleep(0.02)

    def scope(self, name):
        """What a sign-in sends for one of the story's scopes, or None."""
        if name is None:
            return None
        if name == 'system':
            return {'system': {'all': True}}
        kind, _, what = name.partition(':')
        return {kind: {'id': self.id(what)}}

    # What operators do.

    def manage(self, *words):
        """Run a keystone-manage command; the exit code as an answer."""
        code = self.rig.manage(self.name, words)
        self.note_write()
        return client.Answer(code)

    def rotate_keys(self):
        """Rotate the keys of tokens, on all nodes."""
        words = ['fernet_rotate', *preparation.owner()]
        return client.Answer(self.rig.manage(self.name, words))

    def restart_node(self, number):
        """Restart one of the nodes; stock keeps nothing to forget."""
        if self.name == 'patched':
            self.rig.restart_node(number)

    def empty_cache(self):
        """Restart memcached, which stock does not use here."""
        if self.name == 'patched':
            self.rig.empty_cache()
