# SPDX-License-Identifier: Apache-2.0

import collections
import http.client
import uuid

import fixtures
import flask

from keystone.common import provider_api
from keystone.common import validated_tokens
from keystone import exception
from keystone.tests import unit
from keystone.tests.unit.revoke import base
from keystone.token import provider

PROVIDERS = provider_api.ProviderAPIs


class ValidatedTestCase(base.TokenTestCase):
    """Notes which tokens are validated."""

    def setUp(self):
        super().setUp()
        self.validated = collections.Counter()
        validate = provider.Manager.validate_token

        def note(manager, token_id, *args, **kwargs):
            self.validated[token_id] += 1
            return validate(manager, token_id, *args, **kwargs)

        self.useFixture(
            fixtures.MonkeyPatch(
                'keystone.token.provider.Manager.validate_token', note
            )
        )
        self.caller = self.issue(project_id=self.project['id'])
        self.subject = self.issue(project_id=self.project['id'])

    def ask(self, method, subject=None, expected_status=None, query=''):
        """Send a request about a token; its answer."""
        self.validated.clear()
        return getattr(self, method)(
            f'/auth/tokens{query}',
            token=self.caller.id,
            headers={'X-Subject-Token': (subject or self.subject).id},
            expected_status=expected_status,
        )

    def assertValidatedOnce(self, *tokens):
        self.assertEqual({token.id: 1 for token in tokens}, self.validated)


class OnceInARequestTests(ValidatedTestCase):
    """Each token is validated once in a request."""

    def test_get(self):
        self.ask('get')

        self.assertValidatedOnce(self.caller, self.subject)

    def test_head(self):
        self.ask('head', expected_status=http.client.OK)

        self.assertValidatedOnce(self.caller, self.subject)

    def test_delete(self):
        self.ask('delete')

        self.assertValidatedOnce(self.caller, self.subject)
        self.assertRevoked(self.subject)

    def test_get_of_the_caller(self):
        self.ask('get', self.caller)

        self.assertValidatedOnce(self.caller)

    def test_delete_of_the_caller(self):
        self.ask('delete', self.caller)

        self.assertValidatedOnce(self.caller)
        self.assertRevoked(self.caller)

    def test_get_of_an_expired_token(self):
        expired = self.issue(self.expiry(-10))

        self.ask('get', expired, query='?allow_expired=1')

        self.assertValidatedOnce(self.caller, expired)

    def test_delete_of_an_expired_token(self):
        expired = self.issue(self.expiry(-10))

        self.ask('delete', expired)

        self.assertValidatedOnce(self.caller, expired)

    def test_next_request_validates_anew(self):
        self.ask('get')
        self.ask('get')

        self.assertValidatedOnce(self.caller, self.subject)

    def test_revoked_in_between(self):
        self.ask('get')
        self.ask('delete')

        self.ask('get', expected_status=http.client.NOT_FOUND)
        self.ask('delete', expected_status=http.client.NOT_FOUND)

    def test_user_disabled_in_between(self):
        user = unit.create_user(
            PROVIDERS.identity_api, domain_id=self.domain['id']
        )
        token = self.issue(user_id=user['id'])
        self.ask('get', token)
        PROVIDERS.identity_api.update_user(user['id'], {'enabled': False})

        self.ask('get', token, http.client.NOT_FOUND)

    def test_malformed(self):
        self.get(
            '/auth/tokens',
            token=self.caller.id,
            headers={'X-Subject-Token': 'malformed'},
            expected_status=http.client.NOT_FOUND,
        )


class ArgumentsTests(ValidatedTestCase):
    """What the arguments ask for is checked of a known token, too."""

    def setUp(self):
        super().setUp()
        request = self.test_request_context()
        request.push()
        self.addCleanup(request.pop)
        self.environ = flask.request.environ

    def assertRefused(self, token, **kwargs):
        self.assertRaises(
            exception.TokenNotFound,
            validated_tokens.validate,
            token.id,
            **kwargs,
        )

    def test_known(self):
        validated_tokens.remember(self.environ, self.subject)

        self.assertIs(self.subject, validated_tokens.validate(self.subject.id))
        self.assertEqual({}, self.validated)

    def test_another_one(self):
        validated_tokens.remember(self.environ, self.caller)

        found = validated_tokens.validate(self.subject.id)

        self.assertEqual(self.subject.audit_id, found.audit_id)
        self.assertValidatedOnce(self.subject)

    def test_no_token(self):
        self.assertRaises(
            exception.TokenNotFound, validated_tokens.validate, None
        )

    def test_expired_token_is_known_within_a_window_only(self):
        expired = self.issue(self.expiry(-10))
        window = {'window_seconds': 3600}
        validated_tokens.validate(expired.id, **window)

        validated_tokens.validate(expired.id, **window)
        self.assertValidatedOnce(expired)
        self.assertRefused(expired)
        self.assertRefused(expired, window_seconds=60)

    def test_expires_in_the_course_of_the_request(self):
        validated_tokens.validate(self.subject.id)

        later = self.expiry(24 * 60)
        self.useFixture(
            fixtures.MonkeyPatch('oslo_utils.timeutils.utcnow', lambda: later)
        )

        self.assertRefused(self.subject)

    def test_access_rules(self):
        credential = PROVIDERS.application_credential_api
        ref = credential.create_application_credential(
            {
                'id': uuid.uuid4().hex,
                'name': uuid.uuid4().hex,
                'secret': uuid.uuid4().hex,
                'user_id': self.user['id'],
                'project_id': self.project['id'],
                'roles': [{'id': self.role_id}],
                'access_rules': [
                    {
                        'id': uuid.uuid4().hex,
                        'path': '/v2.1/servers',
                        'method': 'POST',
                        'service': uuid.uuid4().hex,
                    }
                ],
            }
        )
        token = self.issue(
            project_id=self.project['id'], app_cred_id=ref['id']
        )
        understood = {'access_rules_support': '1.0'}
        validated_tokens.validate(token.id, **understood)

        validated_tokens.validate(token.id, **understood)
        self.assertValidatedOnce(token)
        self.assertRefused(token)
        self.assertRefused(token, access_rules_support='0.9')

    def test_revoked_by_this_request(self):
        validated_tokens.validate(self.subject.id)

        PROVIDERS.token_provider_api.revoke_token(self.subject.id)

        self.assertRefused(self.subject)


class WithoutARequestTests(ValidatedTestCase):
    """Where there is no request each call validates."""

    def test_twice(self):
        validated_tokens.validate(self.subject.id)
        validated_tokens.validate(self.subject.id)

        self.assertEqual({self.subject.id: 2}, self.validated)
