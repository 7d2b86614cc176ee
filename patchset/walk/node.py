# SPDX-License-Identifier: Apache-2.0

"""Requests to one server."""

import dataclasses
import http.client
import json

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


class Node:
    """One server.

    :param name: what it is called in reports
    :param port: function that tells its port
    """

    def __init__(self, name, port):
        self.name = name
        self._port = port

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
            '127.0.0.1', self._port(), timeout=PATIENCE
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


def _parsed(text):
    try:
        return json.loads(text)
    except ValueError:
        return text.decode(errors='replace')
