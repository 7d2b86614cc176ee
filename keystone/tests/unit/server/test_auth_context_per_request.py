# SPDX-License-Identifier: Apache-2.0

from concurrent import futures
import threading
from unittest import mock

import webtest

from keystone.common import authorization
from keystone.common import context
from keystone.common import provider_api
from keystone.server.flask.request_processing.middleware import auth_context
from keystone.tests import unit
from keystone.tests.unit import test_v3

PROVIDERS = provider_api.ProviderAPIs
SERVICE_TOKEN_HEADER = 'X-Service-Token'
TIMEOUT = 60


def application(environ, start_response):
    start_response('200 OK', [('Content-Type', 'text/plain')])
    return [b'']


class _Window:
    """Holds one request back until another one has been answered."""

    def __init__(self):
        self.reached = threading.Event()
        self.open = threading.Event()

    def hold(self):
        if not self.reached.is_set():
            self.reached.set()
            if not self.open.wait(TIMEOUT):
                raise AssertionError('the window was not opened')


class _HeldBeforeContext(auth_context.AuthContextMiddleware):
    """Holds the first request between its validation and its context."""

    def __init__(self, app, window):
        super().__init__(app)
        self._window = window

    def fill_context(self, request):
        self._window.hold()
        super().fill_context(request)


class _HeldAfterStoring(auth_context.AuthContextMiddleware):
    """Holds the first request that stores a token in the middleware."""

    def __init__(self, app, window):
        self._window = window
        self._stored = None
        super().__init__(app)

    @property
    def token(self):
        return self._stored

    @token.setter
    def token(self, model):
        self._stored = model
        if model is not None:
            self._window.hold()


class AuthContextTestCase(test_v3.RestfulTestCase):
    def setUp(self):
        super().setUp()
        self.others_token = PROVIDERS.token_provider_api.issue_token(
            self.user_reqadmin['id'],
            ['password'],
            project_id=self.default_domain_project_id,
        )

    def issue(self, methods=('password',), **kwargs):
        return PROVIDERS.token_provider_api.issue_token(
            self.user['id'], list(methods), **kwargs
        )

    def request(self, middleware, token, headers=None, status=200):
        """Send a request through the middleware.

        :returns: the WSGI environment the application was called with
        """
        headers = {
            authorization.AUTH_TOKEN_HEADER: token.id,
            **(headers or {}),
        }
        app = webtest.TestApp(middleware)
        return app.get('/', headers=headers, status=status).request.environ

    def assertContextOf(self, token, environ):
        values = environ[authorization.AUTH_CONTEXT_ENV]
        self.assertEqual(token.audit_id, values['token'].audit_id)
        self.assertEqual(token.user_id, values['user_id'])
        self.assertEqual(token.project_id, values['project_id'])
        self.assertEqual(token.domain_id, values['domain_id'])
        self.assertEqual(token.trust_id, values['trust_id'])
        request_context = environ[context.REQUEST_CONTEXT_ENV]
        self.assertEqual(
            [token.audit_id],
            request_context.token_reference['token']['audit_ids'],
        )


class SingleRequestTests(AuthContextTestCase):
    def test_a_request_leaves_nothing_in_the_middleware(self):
        middleware = auth_context.AuthContextMiddleware(application)
        before = dict(vars(middleware))

        self.request(middleware, self.issue(project_id=self.project_id))

        self.assertEqual(before, vars(middleware))

    def test_context_is_of_the_user_token_beside_a_service_token(self):
        middleware = auth_context.AuthContextMiddleware(application)
        token = self.issue(project_id=self.project_id)

        with mock.patch.object(
            PROVIDERS.token_provider_api,
            'validate_token',
            wraps=PROVIDERS.token_provider_api.validate_token,
        ) as validate:
            environ = self.request(
                middleware,
                token,
                headers={SERVICE_TOKEN_HEADER: self.others_token.id},
            )

        self.assertContextOf(token, environ)
        self.assertEqual(
            [self.others_token.id, token.id],
            [call.args[0] for call in validate.call_args_list],
        )

    def test_a_service_token_alone_makes_no_context(self):
        middleware = auth_context.AuthContextMiddleware(application)
        app = webtest.TestApp(middleware)

        response = app.get(
            '/', headers={SERVICE_TOKEN_HEADER: self.others_token.id}
        )

        self.assertNotIn(
            authorization.AUTH_CONTEXT_ENV, response.request.environ
        )

    def test_a_subclass_may_fetch_a_plain_dictionary(self):
        class Plain(auth_context.AuthContextMiddleware):
            def fetch_token(self, token, **kwargs):
                return dict(super().fetch_token(token, **kwargs))

        token = self.issue(project_id=self.project_id)

        self.assertContextOf(token, self.request(Plain(application), token))


class ConcurrentRequestTests(AuthContextTestCase):
    def race(self, held, token, status=200):
        """Answer another user's request while one with `token` is held.

        :param held: class of the middleware, which says where it is held
        :returns: the WSGI environment of the request that was held
        """
        window = _Window()
        middleware = held(application, window)
        with futures.ThreadPoolExecutor(1) as pool:
            request = pool.submit(
                self.request, middleware, token, status=status
            )
            # A middleware that stores nothing is never held.
            request.add_done_callback(lambda _: window.reached.set())
            self.assertTrue(window.reached.wait(TIMEOUT))
            try:
                others = self.request(middleware, self.others_token)
            finally:
                window.open.set()
            self.assertContextOf(self.others_token, others)
            return request.result(TIMEOUT)

    def test_context_is_of_the_own_token(self):
        token = self.issue(project_id=self.project_id)

        environ = self.race(_HeldBeforeContext, token)

        self.assertContextOf(token, environ)

    def test_identity_is_of_the_own_token(self):
        token = self.issue(project_id=self.project_id)

        environ = self.race(_HeldAfterStoring, token)

        self.assertEqual(token.user_id, environ['HTTP_X_USER_ID'])
        self.assertContextOf(token, environ)

    def test_delegation_is_not_lost(self):
        ref = unit.new_trust_ref(
            trustor_user_id=self.user_reqadmin['id'],
            trustee_user_id=self.user['id'],
            project_id=self.default_domain_project_id,
            impersonation=False,
            role_ids=[self.role_id],
        )
        trust = PROVIDERS.trust_api.create_trust(ref['id'], ref, ref['roles'])
        token = self.issue(
            trust_id=trust['id'], project_id=trust['project_id']
        )

        environ = self.race(_HeldBeforeContext, token)

        request_context = environ[context.REQUEST_CONTEXT_ENV]
        self.assertTrue(request_context.is_delegated_auth)
        self.assertEqual(trust['id'], request_context.trust_id)
        self.assertContextOf(token, environ)

    def test_ec2_credential_tokens_are_still_refused(self):
        token = self.issue(
            methods=['ec2credential'], project_id=self.project_id
        )

        self.race(_HeldBeforeContext, token, status=403)
