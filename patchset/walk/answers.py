# SPDX-License-Identifier: Apache-2.0

"""Requests after each step, and the comparison of their responses."""

import dataclasses
import difflib
import hashlib
import itertools
import json
import re

from bench import signing
from patchset.walk import testbed as testbeds
from patchset.walk.names import ADMIN
from patchset.walk.names import SELF
from patchset.walk.readings import Request

_PATH = '/auth/tokens'
_HEADERS = (('OpenStack-Identity-Access-Rules', '1.0'),)
# Of the two validations of each token, the second is one of these.
_VARIANTS = (
    ('GET', '?nocatalog'), ('GET', '?allow_expired=1'),
    ('GET', '?nocatalog&allow_expired=1'), ('HEAD', ''),
)  # fmt: skip
# They depend on the server or the time.
_IGNORED_HEADERS = ('x-openstack-request-id', 'date', 'content-length')
_TOKEN_HEADER = 'x-subject-token'
_PORT = re.compile(r'127\.0\.0\.1:\d+')
# An error can contain one, of either provider.
_TOKEN = re.compile(r'\b(gAAAA[\w-]+=*|eyJ[\w-]+(\.[\w-]+){2})')
# Equivalent: the first server that notices that a user of the directory is
# disabled revokes the user's tokens, and responds with the first message.
_NOT_FOUND = 'Could not find token: TOKEN.'
_REVOKED = 'Failed to validate token'
_ID = re.compile(r'\b[0-9a-f]{32}(?:[0-9a-f]{32})?\b')
# They differ between any two clouds.
_VARIABLE = {
    'issued_at', 'expires_at', 'created_at', 'deleted_at', 'blob', 'access',
    'secret', 'trust_id', 'password_expires_at', 'id_hash',
}  # fmt: skip
_REPEATED = ('roles', 'role_assignments')
_UNORDERED = ('roles', 'catalog', 'endpoints', 'groups', 'methods')


@dataclasses.dataclass(frozen=True)
class Signature:
    """The verification of a signed S3 request.

    :param key: name of the EC2 credential
    :ivar subject: name of the token of the caller
    """

    key: str
    subject = ADMIN
    names = frozenset()
    is_exact = False

    def __str__(self):
        return f'POST /s3tokens with {self.key}'

    def send(self, server, side):
        """The response of a server."""
        return server.ask(
            'POST', '/s3tokens', side.token(ADMIN),
            signing.s3(*side.keys[self.key]),
        )  # fmt: skip


def requests(side, names):
    """The requests after each step: a list.

    Each token is validated with a catalog, and in another way. Signatures are
    verified for all keys, including deleted ones.

    :param names: names of the tokens
    """
    requests = [Signature(key) for key in side.keys]
    for number, name in enumerate(names):
        caller = side.callers[name]
        caller = name if caller == SELF else caller
        if caller not in side.tokens:
            caller = ADMIN
        first, second = (ADMIN, caller)[:: 1 - 2 * (number % 2)]
        requests.append(Request(_PATH, first, name, _HEADERS))
        method, query = _VARIANTS[number % len(_VARIANTS)]
        requests.append(
            Request(
                _PATH + query, second, name, _HEADERS[: number % 3], method
            )
        )
    return requests


def on_one_cloud(answer, is_exact=True):
    """The part of a response that must be equal on all nodes of a cloud.

    :param is_exact: whether this includes values that vary between requests
    """
    if answer is None:
        return None
    headers = {
        name: _normalize_header(name, value)
        for name, value in answer.headers.items()
        if name not in _IGNORED_HEADERS
    }
    return answer.status, headers, _normalize(answer.body, is_exact=is_exact)


def across_clouds(answer, side):
    """The part of a response that must be equal on both clouds."""
    if answer is None:
        return None
    return answer.status, _normalize(answer.body, None, False, side.names)


def _normalize_header(name, value):
    if name == _TOKEN_HEADER:
        return hashlib.sha256(value.encode()).hexdigest()[:12]
    return _PORT.sub('HOST', value)


def _normalize(body, key=None, is_exact=True, names=None):
    """The compared part of a body, or of a value in it.

    :param key: name of the value; lists without an order are sorted
    :param is_exact: whether variable values are included
    :param names: {id: name}, by which ids are replaced
    """
    if not is_exact and key == 'audit_ids':
        return len(body)
    if not is_exact and key in _VARIABLE:
        return None if body is None else 'VARIABLE'
    if isinstance(body, dict):
        return {
            name: _normalize(value, name, is_exact, names)
            for name, value in body.items()
        }
    if isinstance(body, list):
        inner = 'methods' if key == 'required_auth_methods' else None
        values = [_normalize(one, inner, is_exact, names) for one in body]
        if key in _UNORDERED or not is_exact:
            values.sort(key=lambda one: json.dumps(one, sort_keys=True))
        if key in _REPEATED and not is_exact:
            # Upstream repeats roles of a system token, and assignments, if
            # there are several ways to imply a role. How often depends on the
            # order of the ids, which differ between clouds.
            values = [one for one, _ in itertools.groupby(values)]
        return values
    if isinstance(body, str):
        body = _TOKEN.sub('TOKEN', _PORT.sub('HOST', body))
        body = _REVOKED if body == _NOT_FOUND else body
        if names is not None:
            body = _ID.sub(lambda match: names.get(match[0], 'ID'), body)
    return body


@dataclasses.dataclass(frozen=True)
class Difference:
    """Two responses that should be equal.

    :param subject: the request, or the step
    :param name: name of the first server or side
    :param first: its response, as compared
    :param other_name: name of the second server or side
    :param second: its response, as compared
    """

    subject: object
    name: str
    first: object
    other_name: str
    second: object

    @property
    def kind(self):
        """A reproduction must have a difference of the same kind."""
        first, second = _status(self.first), _status(self.second)
        return self.name, first, self.other_name, second

    def __str__(self):
        one, other = (
            json.dumps(answer, indent=1, sort_keys=True, default=str)
            for answer in (self.first, self.second)
        )
        lines = difflib.unified_diff(
            one.splitlines(), other.splitlines(), self.name, self.other_name,
            lineterm='',
        )  # fmt: skip
        return '\n'.join([str(self.subject), *lines])


def _status(answer):
    return answer[0] if answer else None


def node_differences(request, responses):
    """Differences between the nodes of the patched cloud and the reference.

    :param request: one of :func:`requests`, or a reading
    :param responses: {name of the server: response}
    """
    reference = on_one_cloud(responses[testbeds.REFERENCE], request.is_exact)
    for name in testbeds.NODES:
        response = on_one_cloud(responses[name], request.is_exact)
        if response != reference:
            yield Difference(
                request, name, response, testbeds.REFERENCE, reference
            )
