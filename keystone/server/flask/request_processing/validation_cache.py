# SPDX-License-Identifier: Apache-2.0

"""Middleware that answers requests from records."""

import logging
from typing import Any

from oslo_context import context as oslo_context
import webob

from keystone.common.cache import request_local
from keystone.common import context
import keystone.conf
from keystone.server.flask.request_processing.middleware import auth_context
from keystone.server.flask.request_processing.middleware import cache_report
from keystone.token.validation_cache import cache
from keystone.token.validation_cache import decisions
from keystone.token.validation_cache import headers
from keystone.token.validation_cache import inquiry

CONF = keystone.conf.CONF

LOG = logging.getLogger('keystone')


class ValidationCacheMiddleware:
    """Answers validations and similar requests from records, if possible.

    It precedes all other middleware, to minimize the cost of a hit.

    :param app: WSGI application, including all other middleware
    """

    def __init__(self, app: Any) -> None:
        self._app = app
        self._headers = headers.Headers()
        self.cache = cache.RECORDS

    def __call__(self, environ: dict, start_response: Any) -> Any:
        # oslo.log appends the error that is being handled to each warning, so
        # nothing is logged, and no request processed, within a handler.
        asked = self._asked(environ)
        if asked is None:
            return self._app(environ, start_response)
        with cache.verified_records():
            answer, failure = None, ''
            try:
                answer = self._answer(asked)
            except Exception as error:
                # Normal processing encounters the same error, or is not
                # affected.
                failure = type(error).__name__
            if failure:
                # The message of the error may contain a token.
                self.cache.note('bypass: error')
                LOG.warning('Failed to use validation cache: %s', failure)
            if answer is None:
                return self._ask(asked, start_response)
        start_response('200 OK', answer[0])
        return answer[1]

    def _asked(self, environ: dict) -> Any:
        """The request, or None if it bypasses the cache."""
        kind = inquiry.kind_of(environ.get('PATH_INFO', ''))
        if kind is None:
            return None
        try:
            if LOG.isEnabledFor(logging.DEBUG):
                raise inquiry.Bypass('debug')
            if not self.cache.is_on:
                raise inquiry.Bypass('off')
            return kind(environ)
        except inquiry.Bypass as reason:
            self.cache.note(f'bypass: {reason}')
            return None

    def _answer(
        self, asked: inquiry.Inquiry
    ) -> tuple[list, list[bytes]] | None:
        caller, subject = cache.found(asked.caller, asked.subject)
        if caller is None or subject is None:
            request_local.begin(asked.environ)
            caller = caller or cache.made(asked.caller)
            # Nothing is computed for a caller who may be rejected.
            asked.subject.is_makeable &= caller is not None
            subject = subject or cache.made(asked.subject)
        if caller is None or subject is None:
            return None
        body = asked.body(subject)
        if body is None:
            return None
        found = self._headers.of(asked.surroundings, asked.token, len(body))
        if found is None:
            return None
        size = caller.caller and caller.caller.size
        is_allowed = self._is_allowed(asked, caller, subject)
        if caller.caller and caller.caller.size != size:
            self.cache.resized(asked.caller, caller)
        if not is_allowed:
            return None
        is_head = asked.environ['REQUEST_METHOD'] == 'HEAD'
        return found, [b'' if is_head else body]

    def _is_allowed(
        self, asked: inquiry.Inquiry, caller: Any, subject: Any
    ) -> bool:
        kept = caller.caller
        if kept is None:
            # For what a rule reads.
            request_local.begin(asked.environ)
            credentials = _credentials(asked.caller.token)
            if credentials is None:
                return False
            kept = decisions.Decisions(credentials)
        if not asked.accepts(kept.credentials):
            return False
        try:
            return kept.allow(*asked.decision(subject))
        except Exception:
            # Normal processing rejects it.
            return False
        finally:
            # A rule may have read the catalog, which may change.
            body = kept.credentials.token_reference['token']
            caller.caller = None if body.has_catalog else kept

    def _ask(self, asked: inquiry.Inquiry, start_response: Any) -> Any:
        def learn(status: str, sent: list, *exc_info: Any) -> Any:
            failure = ''
            try:
                self._headers.learn(
                    asked.surroundings, status, sent, asked.token
                )
            except Exception as error:
                # It must not affect the current response.
                failure = type(error).__name__
            if failure:
                LOG.warning('Failed to keep headers: %s', failure)
            return start_response(status, sent, *exc_info)

        asked.environ[inquiry.KEY] = asked
        return self._app(asked.environ, learn)


def _credentials(token: str | None) -> Any:
    """The credentials of a caller, from the regular middleware.

    :returns: a :class:`keystone.common.context.RequestContext`; None if the
        middleware rejects the caller
    """
    seen: dict = {}

    def app(environ: dict, start_response: Any) -> list[bytes]:
        seen.update(environ)
        start_response('200 OK', [])
        return [b'']

    request = webob.Request.blank('/', headers={'X-Auth-Token': token})
    before = oslo_context.get_current()
    try:
        request.send(auth_context.AuthContextMiddleware(app))
    finally:
        if before is not None:
            before.update_store()
    found = seen.get(context.REQUEST_CONTEXT_ENV)
    if found is None or not found.authenticated:
        return None
    # The credentials outlive the request.
    found.auth_token = None
    found.token_reference.model.id = None
    return found


def wrap(app: Any) -> Any:
    """Add the middleware to an application, if applicable.

    :param app: WSGI application
    :returns: WSGI application
    """
    if CONF.wsgi.debug_middleware:
        # It logs each request and each response.
        return app
    return cache_report.report(ValidationCacheMiddleware(app))
