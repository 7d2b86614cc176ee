# SPDX-License-Identifier: Apache-2.0

import http.client
import logging

import fixtures
from oslo_log import formatters

from keystone.common import authorization
from keystone.common import provider_api
from keystone import exception
from keystone.tests import unit
from keystone.tests.unit.ksfixtures import shared_cache
from keystone.tests.unit.validation_cache import base

PROVIDERS = provider_api.ProviderAPIs


class BypassTests(base.ValidationCacheTestCase):
    """Unusual requests are processed normally."""

    def assertBypassed(self, reason, status=None, **more):
        before = self.cache.counts.copy()
        answer = self.ask(**more)
        found = self.cache.counts - before
        # The caller may be known all the same.
        found.pop('hit', None)
        self.assertEqual({f'bypass: {reason}': 1}, found)
        self.assertSame(self.ask_past(**more), answer)
        if status:
            self.assertEqual(str(int(status)), answer[0].partition(' ')[0])

    def test_queries(self):
        for query in (
            'allow_expired=0',
            'allow_expired=1&nocatalog',
            'nocatalog=1',
            'unknown',
        ):
            self.assertBypassed('query', 200, QUERY_STRING=query)

    def test_headers(self):
        for name, value in (
            ('HTTP_ORIGIN', 'https://example.org'),
            ('HTTP_X_SERVICE_TOKEN', self.token),
            ('HTTP_X_TRACE_INFO', 'x'),
            ('HTTP_X_SERVICE_ROLES', 'service'),
            ('HTTP_X_SOMETHING', 'new'),
            ('HTTP_TRANSFER_ENCODING', 'chunked'),
            ('openstack.something', 'set before'),
        ):
            self.assertBypassed('header', 200, **{name: value})

    def test_admin_token_and_context_of_another_middleware(self):
        self.assertBypassed(
            'header', 200, **{'openstack.context': {'is_admin': True}}
        )
        self.assertBypassed(
            'header', **{authorization.AUTH_CONTEXT_ENV: {'user_id': 'x'}}
        )

    def test_tokens_missing(self):
        self.assertBypassed(
            'caller', http.client.UNAUTHORIZED, HTTP_X_AUTH_TOKEN=None
        )
        self.assertBypassed(
            'caller',
            200,
            HTTP_X_AUTH_TOKEN=None,
            HTTP_X_STORAGE_TOKEN=self.token,
        )
        self.assertBypassed(
            'subject', http.client.NOT_FOUND, HTTP_X_SUBJECT_TOKEN=None
        )

    def test_line_break_in_a_token(self):
        """It is not returned in a header, not even if it was folded."""
        subject = f'{self.token[:9]}\r\n  {self.token[9:]}'
        for ask in (self.ask_past, self.ask):
            error = self.assertRaises(ValueError, ask, subject)
            self.assertIn('newline', str(error))

    def test_body(self):
        self.assertBypassed('body', CONTENT_LENGTH='2')

    def test_other_paths(self):
        with self.counted(hit=3):
            for path in ('/v3/auth/tokens/', '/v3', '/v3/auth/projects'):
                self.ask(PATH_INFO=path)

    def test_debug_log(self):
        logging.getLogger('keystone').setLevel(logging.DEBUG)

        self.assertBypassed('debug', 200)

    def test_no_error_is_appended_to_warnings(self):
        output = self.useFixture(
            fixtures.FakeLogger(
                format='%(message)s', formatter=formatters.ContextFormatter
            )
        )
        app = self.middleware._app

        def warn(*args):
            logging.getLogger('keystone').warning('Checked.')
            return app(*args)

        self.middleware._app = warn
        self.ask(method='POST')
        self.assertIn('Checked.', output.output)
        self.assertNotIn('Bypass', output.output)

        error = exception.TokenNotFound('a-token')
        self.useFixture(
            fixtures.MockPatchObject(self.cache, 'find', side_effect=error)
        )
        for path in ('/v3/auth/tokens', '/v3/auth/projects'):
            output.reset_output()
            self.ask(PATH_INFO=path)
            self.assertIn('cache: TokenNotFound', output.output)
            self.assertNotIn('a-token', output.output)


class KeptTests(base.ValidationCacheTestCase):
    """What is kept, and what may change without a trace."""

    def setUp(self):
        super().setUp()
        self.cache.clear()

    def assertNotKept(self):
        """No record of the caller is made, once it is known what it reads."""
        self.cache.clear()
        shared_cache.forget_records()
        for what, made in (
            ('not_kept: database', 1),
            ('miss: unkept', 0),
            ('miss: unkept', 0),
        ):
            before = self.cache.counts.copy()
            answer = self.ask()
            found = self.cache.counts - before
            self.assertEqual(made, found['made'], found)
            self.assertLess(0, found[what], found)
            self.assertSame(self.ask_past(), answer)

    def assertNeverKept(self, reason, token, **kwargs):
        """No record is made of a token, once it is known what it is."""
        self.cache.clear()
        for what in (f'not_kept: {reason}', 'miss: unkept', 'miss: unkept'):
            before = self.cache.counts.copy()
            answer = self.ask(token, **kwargs)
            found = self.cache.counts - before
            self.assertEqual(1, found[what], found)
            self.assertSame(self.ask_past(token, **kwargs), answer)

    def assertOff(self):
        with self.counted(bypass__off=2):
            for _ in range(2):
                answer = self.ask()
        self.assertSame(self.ask_past(), answer)
        self.assertEqual(0, len(self.cache._records))

    def test_switched_off(self):
        self.config_fixture.config(group='token', validation_cache_size=0)

        self.assertOff()

    def test_cache_that_is_not_shared(self):
        self.config_fixture.config(
            group='cache', backend='dogpile.cache.memory'
        )

        self.assertOff()

    def test_tokens_that_are_not_cached(self):
        self.config_fixture.config(group='token', caching=False)

        self.assertOff()

    def test_without_replica(self):
        self.config_fixture.config(group='revoke', max_events_in_memory=0)

        self.assertOff()

    def test_section_that_is_not_cached(self):
        for section in ('identity', 'resource', 'role'):
            self.config_fixture.config(group=section, caching=False)
            self.assertNotKept()
            self.config_fixture.config(group=section, caching=True)

    def test_no_time(self):
        for section in ('identity', 'resource', 'role'):
            self.config_fixture.config(group=section, cache_time=0)
            self.assertNotKept()
            self.config_fixture.config(group=section, cache_time=None)

    def test_negative_answer(self):
        self.ask()
        before = len(self.cache._records)
        for _ in range(2):
            answer = self.ask('unknown')
        self.assertEqual('404 NOT FOUND', answer[0].upper())
        self.assertEqual(before, len(self.cache._records))

    def test_trust_with_limited_uses(self):
        # The database knows how many are left.
        trustee = unit.create_user(PROVIDERS.identity_api, self.domain_id)
        _trust, token = self.issue_for_trust(trustee, remaining_uses=5)

        self.assertNeverKept('database', token)

    def test_application_credential_with_access_rules(self):
        ref = unit.new_application_credential_ref(roles=[{'id': self.role_id}])
        rule = {'path': '/x', 'method': 'GET', 'service': 'y'}
        for rules, reason in ((None, None), ([rule], 'access_rules')):
            body = {**ref, 'name': str(reason)}
            body.pop('project_id', None)
            body.pop('user_id', None)
            if rules:
                body['access_rules'] = rules
            made = self.post(
                f'/users/{self.user_id}/application_credentials',
                body={'application_credential': body},
            ).result['application_credential']
            token = self.get_application_credentials_token(
                made['id'], made['secret']
            )
            name = 'HTTP_OPENSTACK_IDENTITY_ACCESS_RULES'
            self.cache.clear()
            if reason:
                self.assertNeverKept(reason, token, **{name: '1'})
            else:
                self.assertNoHit(token, **{name: '1'})
                self.assertHit(token, **{name: '1'})
