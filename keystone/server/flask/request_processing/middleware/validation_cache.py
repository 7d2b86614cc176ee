# SPDX-License-Identifier: Apache-2.0

"""Middleware that answers validations from records."""

import logging
from typing import Any

from oslo_context import context as oslo_context
import webob

from keystone.common.cache import request_local
from keystone.common import context
import keystone.conf
from keystone.server.flask.request_processing.middleware import cache_report
from keystone.token.validation_cache import cache
from keystone.token.validation_cache import decisions
from keystone.token.validation_cache import headers
from keystone.token.validation_cache import inquiry

CONF = keystone.conf.CONF

LOG = logging.getLogger('keystone')


class ValidationCacheMiddleware:
    """Answers validations from records, if possible.

    It precedes all other middleware, to minimize the cost of a hit.

    :param app: WSGI application, including all other middleware
    """

    def __init__(self, app: Any) -> None:
        self._app = app
        self._headers = headers.Headers()
        self.cache = cache.RECORDS

    def __call__(self, environ: dict, start_response: Any) -> Any:
        if environ.get('PATH_INFO') != inquiry.PATH:
            return self._app(environ, start_response)
        reason = inquiry.bypass(environ)
        if reason is None and LOG.isEnabledFor(logging.DEBUG):
            reason = 'debug'
        if reason is None and not self.cache.is_on:
            reason = 'off'
        if reason is not None:
            self.cache.note(f'bypass: {reason}')
            return self._app(environ, start_response)
        with cache.verified_records():
            try:
                answer = self._answer(environ)
            except Exception as error:
                # Normal processing encounters the same error, or is not
                # affected. The error message may contain a token.
                self.cache.note('bypass: error')
                LOG.warning(
                    'Failed to use validation cache: %s', type(error).__name__
                )
                answer = None
            if answer is None:
                return self._ask(environ, start_response)
        start_response('200 OK', answer[0])
        return answer[1]

    def _answer(self, environ: dict) -> tuple[list, list[bytes]] | None:
        caller = cache.Wanted(environ['HTTP_X_AUTH_TOKEN'])
        subject = cache.Wanted(environ['HTTP_X_SUBJECT_TOKEN'])
        records = self.cache.find(caller, subject)
        if None in records:
            request_local.begin(environ)
            records = [
                record or cache.made(wanted)
                for record, wanted in zip(records, (caller, subject))
            ]
        for wanted, record in zip((caller, subject), records):
            if record is not None:
                cache.add_verified(wanted.token, record)
        if None in records:
            return None
        body = self.cache.body(records[1], not environ.get('QUERY_STRING'))
        if body is None:
            return None
        found = self._headers.of(
            inquiry.surroundings(environ), subject.token, len(body)
        )
        if found is None or not self._is_allowed(environ, *records, caller):
            return None
        return found, [body if environ['REQUEST_METHOD'] == 'GET' else b'']

    def _is_allowed(
        self, environ: dict, caller: Any, subject: Any, wanted: cache.Wanted
    ) -> bool:
        if caller.caller is None:
            credentials = _credentials(wanted.token)
            if credentials is None:
                return False
            caller.caller = decisions.Decisions(credentials)
        try:
            return caller.caller.allow(
                environ['REQUEST_METHOD'], subject.target
            )
        except Exception:
            # Normal processing rejects it.
            return False

    def _learn(self, environ: dict, status: str, sent: list) -> None:
        try:
            self._headers.learn(
                inquiry.surroundings(environ),
                status,
                sent,
                environ['HTTP_X_SUBJECT_TOKEN'],
            )
        except Exception as error:
            # It must not affect the current response.
            LOG.warning('Failed to keep headers: %s', type(error).__name__)

    def _ask(self, environ: dict, start_response: Any) -> Any:
        def learn(status: str, sent: list, *exc_info: Any) -> Any:
            self._learn(environ, status, sent)
            return start_response(status, sent, *exc_info)

        return self._app(environ, learn)


def _credentials(token: str) -> Any:
    """The credentials of a caller, from the regular middleware.

    :returns: a :class:`keystone.common.context.RequestContext`; None if the
        middleware rejects the caller
    """
    # It imports this package.
    from keystone.server.flask.request_processing import middleware

    seen: dict = {}

    def app(environ: dict, start_response: Any) -> list[bytes]:
        seen.update(environ)
        start_response('200 OK', [])
        return [b'']

    request = webob.Request.blank('/', headers={'X-Auth-Token': token})
    before = oslo_context.get_current()
    try:
        request.send(middleware.auth_context.AuthContextMiddleware(app))
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
