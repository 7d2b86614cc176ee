# SPDX-License-Identifier: Apache-2.0

"""The few identity requests that the tooling's tests make."""

import http.client
import json


class Client:
    """A user of the API on a port of 127.0.0.1.

    :param variables: the OS_* variables of the user
    """

    def __init__(self, port, variables):
        self._port = port
        self._variables = variables

    def call(self, method, path, token=None, subject=None, body=None):
        """Make a request; return status, headers and the decoded body."""
        headers = {'Content-Type': 'application/json'}
        if token:
            headers['X-Auth-Token'] = token
        if subject:
            headers['X-Subject-Token'] = subject
        connection = http.client.HTTPConnection('127.0.0.1', self._port, 60)
        try:
            text = None if body is None else json.dumps(body)
            connection.request(method, f'/v3{path}', text, headers)
            answer = connection.getresponse()
            return (
                answer.status,
                answer.headers,
                json.loads(answer.read() or b'null'),
            )
        finally:
            connection.close()

    def authenticate(self, password=None):
        """Ask for a token; return status and token."""
        domain = {'name': self._variables['OS_USER_DOMAIN_NAME']}
        user = {
            'name': self._variables['OS_USERNAME'],
            'domain': domain,
            'password': password or self._variables['OS_PASSWORD'],
        }
        project = {
            'name': self._variables['OS_PROJECT_NAME'],
            'domain': domain,
        }
        status, headers, _ = self.call(
            'POST',
            '/auth/tokens',
            body={
                'auth': {
                    'identity': {
                        'methods': ['password'],
                        'password': {'user': user},
                    },
                    'scope': {'project': project},
                }
            },
        )
        return status, headers['X-Subject-Token']

    def life(self, token):
        """Statuses of a new token's creation, check, end and check."""
        created, subject = self.authenticate()
        statuses = [created]
        for method in ('GET', 'DELETE', 'GET'):
            statuses.append(
                self.call(method, '/auth/tokens', token, subject)[0]
            )
        return statuses
