# SPDX-License-Identifier: Apache-2.0

"""Requests to one Keystone."""

import dataclasses
import http.client
import json

DEFAULT = {'domain': {'id': 'default'}}
ADMIN_PROJECT = {'project': {'name': 'admin', **DEFAULT}}  # a scope
PATIENCE = 60  # seconds for an answer


@dataclasses.dataclass(frozen=True)
class Answer:
    """What a server answered.

    :param status: HTTP status, 0 if it closed the connection without one
    :param body: parsed, or text where it is no JSON
    :param headers: {name in lower case: value}
    """

    status: int
    body: object = None
    headers: dict = dataclasses.field(default_factory=dict)


def password(secret, **user):
    """The identity of a user who has a password.

    :param user: attributes that name the user; ``admin`` by default
    """
    user = user or {'name': 'admin', **DEFAULT}
    return {
        'methods': ['password'],
        'password': {'user': {**user, 'password': secret}},
    }


class Client:
    """A client of the Keystone on a port of 127.0.0.1.

    :param name: its name in reports
    """

    def __init__(self, port, name=None):
        self.name = name or f'port {port}'
        self.port = port

    def ask(self, method, path, token=None, body=None, headers=None):
        """The answer to one request.

        :param path: without ``/v3``
        :param body: bytes, or what is sent as JSON
        """
        if body is not None and not isinstance(body, bytes):
            body = json.dumps(body).encode()
        sent = {'Content-Type': 'application/json', **(headers or {})}
        if token:
            sent['X-Auth-Token'] = token
        connection = http.client.HTTPConnection(
            '127.0.0.1', self.port, timeout=PATIENCE
        )
        try:
            connection.request(method, '/v3' + path, body, sent)
            answer = connection.getresponse()
            text = answer.read()
            found = {k.lower(): v for k, v in answer.getheaders()}
            return Answer(answer.status, _parsed(text), found)
        except (OSError, http.client.HTTPException) as error:
            return Answer(0, f'no answer: {type(error).__name__}')
        finally:
            connection.close()

    def authenticate(self, identity, scope=None, headers=None):
        """The answer to a request for a token."""
        auth = {'identity': identity}
        if scope:
            auth['scope'] = scope
        return self.ask(
            'POST', '/auth/tokens', body={'auth': auth}, headers=headers
        )

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


def _parsed(text):
    try:
        return json.loads(text)
    except ValueError:
        return text.decode(errors='replace')
