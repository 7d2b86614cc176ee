# SPDX-License-Identifier: Apache-2.0

"""What is asked after each step, and how answers are compared."""

import dataclasses
import difflib
import hashlib
import itertools
import json
import re

from bench import signing
from patchset.walk import rig as rigs
from patchset.walk.side import ADMIN
from patchset.walk.side import SELF

_RULES = {'OpenStack-Identity-Access-Rules': '1.0'}
# Of two questions about each token, the second is one of these: method, query.
_SECOND = (
    ('GET', '?nocatalog'), ('GET', '?allow_expired=1'),
    ('GET', '?nocatalog&allow_expired=1'), ('HEAD', ''),
)  # fmt: skip
# Of the server that was asked, or of the moment.
_IGNORED = ('x-openstack-request-id', 'date', 'content-length')
_SECRET = 'x-subject-token'
_PORT = re.compile(r'127\.0\.0\.1:\d+')
_TOKEN = re.compile(r'\bgAAAA[\w-]+=*')  # an error may repeat one
# The same refusal: who is the first to find a user of a directory disabled
# has that user's tokens revoked, and says it in the first of these ways.
_NOT_FOUND = 'Could not find token: TOKEN.'
_REVOKED = 'Failed to validate token'
_ID = re.compile(r'\b[0-9a-f]{32}(?:[0-9a-f]{32})?\b')
# What differs between any two clouds.
_OF_THE_MOMENT = {
    'issued_at', 'expires_at', 'created_at', 'deleted_at', 'blob', 'access',
    'secret', 'trust_id', 'password_expires_at', 'id_hash',
}  # fmt: skip
_UNORDERED = ('roles', 'catalog', 'endpoints', 'groups', 'methods')


@dataclasses.dataclass(frozen=True)
class Question:
    """One validation.

    :param subject: name of the token
    :param caller: name of the token that asks
    :param query: of the URL
    :param headers: further headers, a tuple of pairs
    :param method: GET or HEAD
    :ivar is_exact: as for :func:`exact`
    """

    subject: str
    caller: str
    query: str = ''
    headers: tuple = ()
    method: str = 'GET'
    is_exact = True

    @property
    def names(self):
        """Names of the tokens that it is about: a set."""
        return {self.subject, self.caller}

    def __str__(self):
        return (
            f'{self.method} /auth/tokens{self.query} of {self.subject} by '
            f'{self.caller}'
        )

    def ask(self, node, side):
        """The answer of one server, or None where a token is not there."""
        if {self.subject, self.caller} - side.tokens.keys():
            return None
        return node.ask(
            self.method, f'/auth/tokens{self.query}', side.token(self.caller),
            headers={
                'X-Subject-Token': side.token(self.subject),
                **dict(self.headers),
            },
        )  # fmt: skip


@dataclasses.dataclass(frozen=True)
class Signature:
    """The verification of one signed S3 request.

    :param key: name of the EC2 credential
    :ivar subject: name of the token that asks
    """

    key: str
    subject = ADMIN
    names = frozenset()
    is_exact = False

    def __str__(self):
        return f'POST /s3tokens with {self.key}'

    def ask(self, node, side):
        """The answer of one server."""
        return node.ask(
            'POST', '/s3tokens', side.token(ADMIN),
            signing.s3(*side.keys[self.key]),
        )  # fmt: skip


def questions(side, names):
    """What is asked after each step.

    Each token is validated with a catalog, and otherwise; requests are signed
    with all keys that have ever been there.

    :param names: the tokens' names
    """
    every = [Signature(key) for key in side.keys]
    for number, name in enumerate(names):
        caller = side.tokens[name].caller
        caller = name if caller == SELF else caller
        if caller not in side.tokens:
            caller = ADMIN
        first, second = (ADMIN, caller)[:: 1 - 2 * (number % 2)]
        headers = tuple(_RULES.items())
        every.append(Question(name, first, '', headers))
        method, query = _SECOND[number % len(_SECOND)]
        every.append(
            Question(name, second, query, headers[: number % 3], method)
        )
    return every


def exact(answer, is_exact=True):
    """What two nodes of one cloud have to agree in.

    :param is_exact: off, what differs between requests is left out
    """
    if answer is None:
        return None
    headers = {
        name: _shown(name, value)
        for name, value in answer.headers.items()
        if name not in _IGNORED
    }
    return answer.status, headers, _plain(answer.body, is_exact=is_exact)


def alike(answer, side):
    """What a stock and a patched cloud have to agree in."""
    if answer is None:
        return None
    return answer.status, _plain(answer.body, None, False, side.names)


def _shown(name, value):
    if name == _SECRET:
        return hashlib.sha256(value.encode()).hexdigest()[:12]
    return _PORT.sub('HOST', value)


def _plain(body, key=None, is_exact=True, names=None):
    """What is compared of a body, or of a part of it.

    :param key: name of the part; lists without an order are sorted
    :param is_exact: whether ids and what differs with the moment count
    :param names: {id: name}, for what has no id in common
    """
    if not is_exact and key == 'audit_ids':
        return len(body)
    if not is_exact and key in _OF_THE_MOMENT:
        return None if body is None else 'MOMENT'
    if isinstance(body, dict):
        return {
            name: _plain(value, name, is_exact, names)
            for name, value in body.items()
        }
    if isinstance(body, list):
        values = [_plain(one, None, is_exact, names) for one in body]
        if key in _UNORDERED:
            values.sort(key=_text)
        if key == 'roles' and not is_exact:
            # Upstream repeats roles of a system token if implied roles form a
            # cycle. How often depends on the order of the ids, which each
            # cloud makes by itself.
            values = [one for one, _ in itertools.groupby(values)]
        return values
    if isinstance(body, str):
        body = _TOKEN.sub('TOKEN', _PORT.sub('HOST', body))
        body = _REVOKED if body == _NOT_FOUND else body
        if names is not None:
            body = _ID.sub(lambda one: names.get(one[0], 'ID'), body)
    return body


def _text(value):
    return json.dumps(value, sort_keys=True, default=str)


@dataclasses.dataclass(frozen=True)
class Difference:
    """Two answers that should be the same.

    :param about: the question, or the step
    :param one: name of who gave the first answer
    :param first: that answer, as compared
    :param other: name of who gave the second answer
    :param second: that answer, as compared
    """

    about: object
    one: str
    first: object
    other: str
    second: object

    @property
    def kind(self):
        """What a shorter story has to show as well."""
        return self.one, _status(self.first), self.other, _status(self.second)

    def __str__(self):
        one, other = (
            json.dumps(answer, indent=1, sort_keys=True, default=str)
            for answer in (self.first, self.second)
        )
        lines = difflib.unified_diff(
            one.splitlines(), other.splitlines(), self.one, self.other,
            lineterm='',
        )  # fmt: skip
        return '\n'.join([str(self.about), *lines])


def _status(answer):
    return answer[0] if answer else None


def of_nodes(question, given):
    """Differences between the nodes of the patched cloud and the truth.

    :param question: a :class:`Question` or a :class:`Signature`
    :param given: {name of the server: answer}
    """
    truth = exact(given[rigs.TRUTH], question.is_exact)
    for name in rigs.NODES:
        found = exact(given[name], question.is_exact)
        if found != truth:
            yield Difference(question, name, found, rigs.TRUTH, truth)
