# SPDX-License-Identifier: Apache-2.0

import fixtures
from oslo_utils import timeutils

from keystone.common import provider_api
from keystone.models import token_model
from keystone.tests.unit.credential import s3_base
from keystone.token import provider

PROVIDERS = provider_api.ProviderAPIs


class S3Tests(s3_base.S3TestCase):
    """The token that tells a gateway whose a signed request is."""

    def setUp(self):
        super().setUp()
        self.ask()

    def _called(self, where, name):
        """List that receives a word for each call from now on."""
        calls = []
        method = getattr(where, name)

        def call(*args, **kwargs):
            calls.append(name)
            return method(*args, **kwargs)

        self.useFixture(fixtures.MockPatchObject(where, name, call))
        return calls

    def _issued(self):
        """The token of one request."""
        issued = []
        issue = PROVIDERS.token_provider_api.issue_token

        def issue_token(*args, **kwargs):
            issued.append(issue(*args, **kwargs))
            return issued[-1]

        self.useFixture(
            fixtures.MockPatchObject(
                PROVIDERS.token_provider_api, 'issue_token', issue_token
            )
        )
        self.ask()
        (token,) = issued
        return token

    def test_no_id_is_made(self):
        driver = PROVIDERS.token_provider_api.driver
        made = self._called(driver, 'generate_id_and_issued_at')

        self.ask()

        self.assertEqual([], made)

    def test_nothing_is_stored(self):
        stored = self._called(provider.TOKENS_REGION, 'set')

        self.ask()

        self.assertEqual([], stored)

    def test_the_answer(self):
        before = timeutils.utcnow().replace(microsecond=0)
        token = self.ask().json_body['token']
        after = timeutils.utcnow()

        issued_at = timeutils.parse_isotime(token['issued_at'])
        self.assertLessEqual(before, timeutils.normalize_time(issued_at))
        self.assertLessEqual(timeutils.normalize_time(issued_at), after)
        self.assertEqual(0, issued_at.microsecond)
        self.assertEqual(self.owner['id'], token['user']['id'])
        self.assertEqual(self.owner_project['id'], token['project']['id'])
        self.assertEqual([self.role_id], [r['id'] for r in token['roles']])
        self.assertEqual(1, len(token['audit_ids']))

    def test_an_id_that_is_asked_for(self):
        token = self._issued()

        found = PROVIDERS.token_provider_api.validate_token(token.id)

        for name in ('user_id', 'project_id', 'audit_id'):
            self.assertEqual(getattr(token, name), getattr(found, name), name)
        self.assertEqual(token.issued_at, found.issued_at)
        self.assertEqual(token.expires_at, found.expires_at)

    def test_an_id_stays(self):
        token = self._issued()

        self.assertIsNotNone(token.id)
        self.assertEqual(token.id, token.id)

    def test_a_token_that_must_not_be(self):
        def refuse(token):
            raise token_model.exception.Unauthorized()

        self.useFixture(
            fixtures.MockPatchObject(
                token_model.TokenModel, '_validate_project_scope', refuse
            )
        )
        self.ask(expected_status=401)
