# SPDX-License-Identifier: Apache-2.0

"""Token requests to one Keystone."""

import http.client

from patchset.walk import node

DEFAULT = {'domain': {'id': 'default'}}
ADMIN_PROJECT = {'project': {'name': 'admin', **DEFAULT}}  # a scope


def password(secret, **user):
    """The identity of a user who has a password.

    :param user: attributes that name the user; ``admin`` by default
    """
    user = user or {'name': 'admin', **DEFAULT}
    return {
        'methods': ['password'],
        'password': {'user': {**user, 'password': secret}},
    }


class Client(node.Node):
    """A client of the Keystone on a port of 127.0.0.1.

    :param name: its name in reports
    """

    def __init__(self, port, name=None):
        super().__init__(name or f'port {port}', lambda: port)
        self.port = port

    def authenticate(self, identity, scope=None):
        """The answer to a request for a token."""
        auth = {'identity': identity}
        if scope:
            auth['scope'] = scope
        return self.ask('POST', '/auth/tokens', body={'auth': auth})

    def issue(self, identity, scope=None):
        """A token."""
        answer = self.authenticate(identity, scope)
        assert answer.status == http.client.CREATED, answer
        return answer.headers['x-subject-token']

    def about(self, method, token, subject):
        """The answer to a request about a token."""
        headers = {'X-Subject-Token': subject}
        return self.ask(method, '/auth/tokens', token, headers=headers)

    def validate(self, token, subject):
        """Status of a validation; 0 if there was no answer."""
        return self.about('GET', token, subject).status

    def revoke(self, token, subject):
        """Status of a revocation."""
        return self.about('DELETE', token, subject).status

    def life(self, identity):
        """Statuses of a token: created, checked, revoked, checked again."""
        caller = self.issue(identity, ADMIN_PROJECT)
        created = self.authenticate(identity, ADMIN_PROJECT)
        subject = created.headers['x-subject-token']
        return [
            created.status,
            self.validate(caller, subject),
            self.revoke(caller, subject),
            self.validate(caller, subject),
        ]
