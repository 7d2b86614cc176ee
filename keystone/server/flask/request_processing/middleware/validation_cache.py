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

"""Middleware that answers validations from rendered answers."""

import logging

from keystone.common.cache import facts
import keystone.conf
from keystone.server.flask.request_processing.middleware import cache_report
from keystone.token.validation_cache import cache as validation_cache
from keystone.token.validation_cache import inquiry
from keystone.token.validation_cache import recorder as recorders

CONF = keystone.conf.CONF

LOG = logging.getLogger(__name__)


class ValidationCacheMiddleware:
    """Stands before all else, so that an answer that is at hand costs little.

    :param app: WSGI application, with all of its middleware
    """

    def __init__(self, app):
        self._app = app
        self.cache = validation_cache.ValidationCache()

    def __call__(self, environ, start_response):
        if environ.get('PATH_INFO') != inquiry.PATH:
            return self._app(environ, start_response)
        look, answer = self._look_up(environ)
        if answer is not None:
            return _give(answer, environ, start_response)
        if look is None:
            return self._app(environ, start_response)
        if self.cache.lead(look):
            try:
                return self._ask(look, environ, start_response)
            finally:
                self.cache.done(look)
        answer = self._find(look)
        if answer is None:
            # The other may have begun later, and have seen a change.
            look, answer = self._look_up(environ)
        if answer is not None:
            return _give(answer, environ, start_response)
        if look is None:
            return self._app(environ, start_response)
        return self._ask(look, environ, start_response)

    def _look_up(self, environ):
        try:
            look = self.cache.look(environ)
            return look, look and self.cache.find(look)
        except Exception as error:
            # Whatever it is, the usual way meets it too, or does not need it.
            self.cache.counts.note('bypass: error')
            _warn(error)
            return None, None

    def _find(self, look):
        try:
            return self.cache.find(look)
        except Exception as error:
            _warn(error)
            return None

    def _ask(self, look, environ, start_response):
        recorder = recorders.Recorder(start_response)
        with facts.tracing() as trace:
            chunks = self._app(environ, recorder)
            if recorder.status != '200 OK' or not recorder.is_whole:
                return chunks
            body = recorder.collect(chunks)
        self.cache.keep(look, environ, recorder, body, trace)
        return [body]


def _warn(error):
    # Its text may name what was looked up: a token, for one.
    LOG.warning('Cannot use the validation cache: %s', type(error).__name__)


def _give(answer, environ, start_response):
    subject = environ['HTTP_X_SUBJECT_TOKEN']
    start_response(answer.status, answer.headers(subject))
    return [answer.body()]


def wrap(app):
    """Put the middleware before an application, where it is wanted.

    :param app: WSGI application
    :returns: WSGI application
    """
    if CONF.wsgi.debug_middleware:
        # It shows each request and each answer.
        return app
    return cache_report.report(ValidationCacheMiddleware(app))
