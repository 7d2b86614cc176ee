# Licensed under the Apache License, Version 2.0 (the "License"); you may
# not use this file except in compliance with the License. You may obtain
# a copy of the License at
#
#      http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the
# License for the specific language governing permissions and limitations
# under the License.

"""A rendered answer, kept so that answers share what they have in common.

Most of a body is its catalog. Catalogs of different projects often differ in
nothing but the project's id, so a body is kept as its own part up to the
catalog, and the pieces between the ids behind.
"""

import uuid

_CATALOG = b'"catalog": ['
_SUBJECT = 'x-subject-token'
_REQUEST = 'x-openstack-request-id'


class Answer:
    """Status line, headers and body of an answer.

    It holds no token: the subject token, which the answer repeats, is taken
    from the request that is answered.

    :param status: the status line
    :param headers: list of (name, value), in the order in which they were sent
    :param body: bytes
    :param subject: the request's subject token
    :param project: id of the project that the subject is scoped to, or None
    :raises ValueError: if the headers are not those of a validation
    """

    __slots__ = (
        '_headers', '_subject_at', '_request_at', '_head', 'pieces',
        '_project', 'status',
    )  # fmt: skip

    def __init__(self, status, headers, body, subject, project):
        self.status = status
        names = [name.lower() for name, _value in headers]
        if names.count(_SUBJECT) != 1 or names.count(_REQUEST) != 1:
            raise ValueError('a header is missing or there twice')
        if 'set-cookie' in names:
            raise ValueError('the answer is for one client only')
        self._subject_at = names.index(_SUBJECT)
        self._request_at = names.index(_REQUEST)
        if headers[self._subject_at][1] != subject:
            raise ValueError('the answer is about another token')
        self._headers = list(headers)
        self._headers[self._subject_at] = headers[self._subject_at][0]
        self._headers[self._request_at] = headers[self._request_at][0]

        at = body.find(_CATALOG)
        self._project = (project or '').encode()
        if at < 0:
            self._head, self.pieces = body, (b'',)
        else:
            self._head, tail = body[:at], body[at:]
            self.pieces = (
                tuple(tail.split(self._project)) if project else (tail,)
            )

    @property
    def own_size(self):
        """Bytes of what is not shared."""
        return 800 + len(self._head)

    @property
    def shared_size(self):
        """Bytes of what other answers may share."""
        return sum(map(len, self.pieces)) + 41 * len(self.pieces) + 200

    def headers(self, subject):
        """The headers, with a request id of their own.

        :param subject: the request's subject token
        :returns: list of (name, value)
        """
        headers = self._headers.copy()
        at = self._subject_at
        headers[at] = (headers[at], subject)
        at = self._request_at
        headers[at] = (headers[at], f'req-{uuid.uuid4()}')
        return headers

    def body(self):
        """The body, as it was.

        :returns: bytes
        """
        first, *others = self.pieces
        return self._project.join([self._head + first, *others])
