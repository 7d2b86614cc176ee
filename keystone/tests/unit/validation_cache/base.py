# SPDX-License-Identifier: Apache-2.0

"""An application with the validation cache, and the same without."""

import contextlib
import datetime
import http.client
import logging
import time
import types

import fixtures

from keystone.common import provider_api
from keystone.server.flask.request_processing import validation_cache
from keystone.tests.unit.assignment import trusts
from keystone.tests.unit.ksfixtures import shared_cache
from keystone.tests.unit import test_v3

PROVIDERS = provider_api.ProviderAPIs


PATH = '/v3/auth/tokens'


class ValidationCacheTestCase(trusts.TrustMixin, test_v3.RestfulTestCase):
    """Asks an application through the cache, and past it."""

    #: Most tests have the first validation make the record.
    cache_on_issue = False

    def setUp(self):
        super().setUp()
        self.useFixture(shared_cache.SharedCache(self.config_fixture))
        self.config_fixture.config(
            group='token', cache_on_issue=self.cache_on_issue
        )
        # Requests with debug logging are processed normally.
        for name in ('keystone', 'oslo_policy'):
            logger = logging.getLogger(name)
            self.addCleanup(logger.setLevel, logger.level)
            logger.setLevel(logging.INFO)
        self.middleware = self.public_app.app
        while not isinstance(
            self.middleware, validation_cache.ValidationCacheMiddleware
        ):
            self.middleware = self.middleware.wsgi_app
        self.cache = self.middleware.cache
        self.cache.clear()
        self.asked = 0
        app = self.middleware._app

        def note(environ, start_response):
            self.asked += 1
            return app(environ, start_response)

        self.middleware._app = note
        self.addCleanup(setattr, self.middleware, '_app', app)
        self.token = self.get_scoped_token()
        # The first request of a process makes the enforcer.
        self.ask()
        self.ask()

    def load_sample_data(self, *args, **kwargs):
        super().load_sample_data(*args, **kwargs)
        PROVIDERS.assignment_api.create_system_grant_for_user(
            self.user_id, self.role_id
        )
        PROVIDERS.assignment_api.create_grant(
            self.role_id, user_id=self.user_id, domain_id=self.domain_id
        )

    def environ(self, subject=None, caller=None, method='GET', **more):
        """The WSGI environment of a validation.

        :param more: further items; None takes an item out
        """
        environ = {
            'REQUEST_METHOD': method,
            'PATH_INFO': PATH,
            'QUERY_STRING': '',
            'SCRIPT_NAME': '',
            'SERVER_NAME': 'localhost',
            'SERVER_PORT': '80',
            'SERVER_PROTOCOL': 'HTTP/1.1',
            'REMOTE_ADDR': '192.0.2.1',
            'HTTP_HOST': 'localhost',
            'HTTP_X_AUTH_TOKEN': caller or self.token,
            'HTTP_X_SUBJECT_TOKEN': subject or self.token,
            'wsgi.url_scheme': 'http',
            'wsgi.version': (1, 0),
            'wsgi.multithread': True,
            'wsgi.multiprocess': True,
            'wsgi.run_once': False,
            'wsgi.errors': None,
            'wsgi.input': _Empty(),
            **more,
        }
        return {
            name: value for name, value in environ.items() if value is not None
        }

    def send(self, app, environ):
        """Send a request.

        :returns: (status line, headers, body)
        """
        answer = []

        def start_response(status, headers, exc_info=None):
            answer[:] = [status, headers]

        chunks = app(environ, start_response)
        try:
            body = b''.join(chunks)
        finally:
            if hasattr(chunks, 'close'):
                chunks.close()
        return (*answer, body)

    def ask(self, subject=None, caller=None, method='GET', **more):
        """Ask through the cache."""
        return self.send(
            self.middleware, self.environ(subject, caller, method, **more)
        )

    def ask_past(self, subject=None, caller=None, method='GET', **more):
        """Ask past the cache, with no records."""
        with shared_cache.no_records(self.config_fixture):
            return self.send(
                self.middleware._app,
                self.environ(subject, caller, method, **more),
            )

    def at(self, **delta):
        """Let it be later, for caches and for tokens.

        :param delta: how much later than now, as for a timedelta
        """
        now = time.time() + datetime.timedelta(**delta).total_seconds()
        clock = types.SimpleNamespace(
            time=lambda: now, monotonic=time.monotonic, sleep=time.sleep
        )
        modules = ['common.cache.proxy']
        for name in ('cache', 'current', 'lookup'):
            modules.append(f'token.validation_cache.{name}')
        for module in modules:
            self.useFixture(
                fixtures.MonkeyPatch(f'keystone.{module}.time', clock)
            )
        moment = datetime.datetime.fromtimestamp(now, datetime.timezone.utc)
        self.useFixture(
            fixtures.MonkeyPatch(
                'oslo_utils.timeutils.utcnow',
                lambda: moment.replace(tzinfo=None),
            )
        )

    @contextlib.contextmanager
    def counted(self, **expected):
        """Demand what is counted meanwhile.

        :param expected: numbers by name, with ``__`` for a colon and blank;
            those that are not named are 0
        """
        before = self.cache.counts.copy()
        yield
        found = {
            name.replace(': ', '__'): number - before[name]
            for name, number in self.cache.counts.items()
            if number != before[name]
        }
        self.assertEqual(expected, found)

    def assertSame(self, one, other):
        """Two answers are the same but for the id of the request."""
        self.assertEqual(_comparable(one), _comparable(other))

    def assertHit(self, *args, **kwargs):
        """A request is answered from two records, and as it is past them."""
        asked = self.asked
        with self.counted(hit=2):
            answer = self.ask(*args, **kwargs)
        self.assertEqual(asked, self.asked)
        self.assertSame(self.ask_past(*args, **kwargs), answer)
        return answer

    def assertNoHit(self, *args, status=http.client.OK, **kwargs):
        """A request is not answered from two records that were there."""
        before = self.cache.counts['hit'], self.asked
        answer = self.ask(*args, **kwargs)
        found = self.cache.counts['hit'], self.asked
        self.assertFalse(
            found[0] == before[0] + 2 and found[1] == before[1], found
        )
        self.assertEqual(str(int(status)), answer[0].partition(' ')[0])
        self.assertSame(self.ask_past(*args, **kwargs), answer)
        return answer


class _Empty:
    """A body of no bytes."""

    def read(self, *_):
        return b''

    def readline(self, *_):
        return b''

    def __iter__(self):
        return iter(())


def _comparable(answer):
    status, headers, body = answer
    return (
        status,
        [
            (name, '' if name.lower() == 'x-openstack-request-id' else value)
            for name, value in headers
        ],
        body,
    )
