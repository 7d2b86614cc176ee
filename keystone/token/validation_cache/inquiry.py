# SPDX-License-Identifier: Apache-2.0

"""Selection of requests that can be answered from records.

Everything that normal processing reads from a request is one of its tokens,
part of its environment, or restricted here to values that do not affect the
response. Other requests bypass the cache.
"""

from collections.abc import Callable
from collections.abc import Container
import re
from typing import Any

from keystone.catalog import answer_text
from keystone.catalog import in_process
from keystone.common.cache import request_local
from keystone.token.validation_cache import lookup
from keystone.token.validation_cache import record as records

# Query strings of validations, and whether they ask for the catalog. The
# auth_token middleware allows expired tokens in requests with a service token.
_QUERIES = {
    '': True,
    'nocatalog': False,
    'allow_expired=1': True,
    'nocatalog&allow_expired=1': False,
}

_ACTIONS = {'GET': 'identity:validate_token', 'HEAD': 'identity:check_token'}

# Read besides the tokens: used for access rules, routing and host checks.
_KEYED = (
    'REQUEST_METHOD', 'QUERY_STRING', 'HTTP_OPENSTACK_IDENTITY_ACCESS_RULES',
    'HTTP_HOST', 'HTTP_FORWARDED', 'HTTP_X_FORWARDED_HOST',
    'HTTP_X_FORWARDED_PORT', 'HTTP_X_FORWARDED_PREFIX',
    'HTTP_X_FORWARDED_PROTO', 'SCRIPT_NAME', 'SERVER_NAME', 'SERVER_PORT',
    'SERVER_PROTOCOL', 'wsgi.url_scheme',
)  # fmt: skip

# Headers that do not affect the response to a validation. They are only read
# for errors, logging and transport, or not at all.
_IGNORED = (
    'HTTP_ACCEPT', 'HTTP_ACCEPT_ENCODING', 'HTTP_ACCEPT_LANGUAGE',
    'HTTP_CACHE_CONTROL', 'HTTP_CONNECTION', 'HTTP_CONTENT_LENGTH',
    'HTTP_CONTENT_TYPE', 'HTTP_KEEP_ALIVE', 'HTTP_PRAGMA', 'HTTP_TRACEPARENT',
    'HTTP_TRACESTATE', 'HTTP_USER_AGENT', 'HTTP_VIA', 'HTTP_X_FORWARDED_FOR',
    'HTTP_X_OPENSTACK_REQUEST_ID', 'HTTP_X_REAL_IP', 'HTTP_X_REQUEST_ID',
)  # fmt: skip

_TOKENS = ('HTTP_X_AUTH_TOKEN', 'HTTP_X_SUBJECT_TOKEN')
_KNOWN = frozenset((*_TOKENS, *_KEYED, *_IGNORED))

# Headers, and variables set by other middleware about the caller.
_TELLING = ('HTTP_', 'KEYSTONE_', 'keystone.', 'openstack.')


class Bypass(Exception):
    """The request bypasses the cache; the argument is a reason in one word."""


class Inquiry:
    """A request that can be answered from two records.

    Subclasses set the methods and query strings that they can answer, whether
    a request is about another token, and whether it has a body.

    :param environ: WSGI environment
    :ivar surroundings: all that the headers of the response may depend on
    :ivar caller: the requested record of the caller
    :ivar subject: the requested record that the response is made of
    :ivar token: the token to return as a header, or None
    :raises Bypass: it has to be processed normally
    """

    methods: Container[str] = ('GET',)
    queries: Container[str] = ('',)
    has_subject = False
    has_body = False

    subject: lookup.Wanted
    token: str | None = None

    def __init__(self, environ: dict) -> None:
        if environ['REQUEST_METHOD'] not in self.methods:
            raise Bypass('method')
        if environ.get('QUERY_STRING', '') not in self.queries:
            raise Bypass('query')
        if not environ.get('HTTP_X_AUTH_TOKEN'):
            raise Bypass('caller')
        subject = environ.get('HTTP_X_SUBJECT_TOKEN')
        if subject == '' or (subject is None) == self.has_subject:
            raise Bypass('subject')
        if subject and not subject.isprintable():
            # Such as a line break, which is no part of the token, and which
            # normal processing does not return in a header.
            raise Bypass('subject')
        has_body = environ.get('CONTENT_LENGTH', '') not in ('', '0')
        if has_body != self.has_body:
            raise Bypass('body')
        for name in environ.keys() - _KNOWN:
            if name.startswith(_TELLING):
                raise Bypass('header')
        self.environ = environ
        # Other middleware changes the environment, for example the scheme.
        self.surroundings = type(self), *[environ.get(name) for name in _KEYED]
        self.caller = lookup.Wanted(environ['HTTP_X_AUTH_TOKEN'])

    def accepts(self, credentials: Any) -> bool:
        """Whether a caller with these credentials is answered from records.

        :param credentials: a :class:`keystone.common.context.RequestContext`
        """
        return True

    def decision(self, record: records.Record) -> tuple[str, tuple]:
        """The policy rule to enforce, and its target as pairs.

        :param record: the valid record of the subject
        """
        raise NotImplementedError()

    def with_catalog(self, record: records.Record) -> bytes:
        """The body of a record, with the current catalog."""
        if record.catalog is None:
            return record.body(None)
        text = in_process.CONTENT.known(self.subject.stamp, *record.catalog)
        if text is None:
            # What an earlier request on this thread has read is not current.
            request_local.begin(self.environ)
            text = answer_text.catalog(*record.catalog)
        return record.body(text)

    def body(self, record: records.Record) -> bytes | None:
        """The body of the response, or None if it is unknown.

        :param record: the valid record of the subject
        """
        raise NotImplementedError()


class Validation(Inquiry):
    """The validation of a token.

    A record expires with its token, so an expired one is processed normally.
    """

    methods = _ACTIONS
    queries = _QUERIES
    has_subject = True

    def __init__(self, environ: dict) -> None:
        super().__init__(environ)
        self.token = environ['HTTP_X_SUBJECT_TOKEN']
        self.subject = lookup.Wanted(self.token)

    def decision(self, record: records.Record) -> tuple[str, tuple]:
        user_id, domain_id = record.target
        target: tuple = (('target.token.user_id', user_id),)
        if domain_id:
            target += (('target.token.user.domain.id', domain_id),)
        return _ACTIONS[self.environ['REQUEST_METHOD']], target

    def body(self, record: records.Record) -> bytes | None:
        if _QUERIES[self.environ.get('QUERY_STRING', '')]:
            return self.with_catalog(record)
        return record.body(None)


#: The kinds of requests, by pattern of the path as passed by the server.
KINDS: dict[re.Pattern[str], Callable[[dict], Any]] = {
    re.compile('/v3/auth/tokens'): Validation
}

#: Name of the item in the WSGI environment of a request that is processed
#: normally: the :class:`Inquiry` that could not be answered.
KEY = 'keystone.validation_cache.inquiry'


def kind_of(path: str) -> Callable[[dict], Any] | None:
    """The kind of requests with this path, if they can be answered."""
    for pattern, kind in KINDS.items():
        if pattern.fullmatch(path):
            return kind
    return None
