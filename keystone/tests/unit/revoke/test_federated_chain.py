# SPDX-License-Identifier: Apache-2.0

import http.client

from keystone.common import provider_api
from keystone import exception
from keystone.tests.unit.federation import signed_in
from keystone.tests.unit import test_v3

PROVIDERS = provider_api.ProviderAPIs


class FederatedChainTests(signed_in.SignedInMixin, test_v3.RestfulTestCase):
    """Tokens of a federated sign-in are a chain, as those of any other."""

    def setUp(self):
        super().setUp()
        self.unscoped = self._issue_unscoped_token(
            assertion='ADMIN_ASSERTION'
        ).id

    def rescope(self, token_id, project):
        request = self._scope_request(token_id, 'project', project['id'])
        return self.v3_create_token(request).headers['X-Subject-Token']

    def validate(self, token_id):
        return PROVIDERS.token_provider_api.validate_token(token_id)

    def revoke(self, token_id, query=''):
        self.delete(
            f'/auth/tokens{query}', headers={'X-Subject-Token': token_id}
        )

    def assertRevoked(self, token_id):
        self.assertRaises(exception.TokenNotFound, self.validate, token_id)

    def test_rescoped_tokens_name_their_root(self):
        root = self.validate(self.unscoped)
        first = self.rescope(self.unscoped, self.proj_employees)
        second = self.rescope(first, self.proj_customers)

        self.assertIsNone(root.parent_audit_id)
        for token_id in (first, second):
            token = self.validate(token_id)
            self.assertTrue(token.is_federated)
            self.assertEqual(root.audit_id, token.parent_audit_id)
            self.assertNotEqual(root.audit_id, token.audit_id)

    def test_audit_ids_in_the_answer(self):
        token_id = self.rescope(self.unscoped, self.proj_employees)

        response = self.get(
            '/auth/tokens',
            headers={'X-Subject-Token': token_id},
            expected_status=http.client.OK,
        )
        token = self.validate(token_id)
        self.assertEqual(
            [token.audit_id, self.validate(self.unscoped).audit_id],
            response.json_body['token']['audit_ids'],
        )

    def test_rescoped_tokens_are_revoked_with_the_root(self):
        first = self.rescope(self.unscoped, self.proj_employees)
        second = self.rescope(first, self.proj_customers)
        other = self._issue_unscoped_token(assertion='ADMIN_ASSERTION').id

        self.revoke(self.unscoped)

        for token_id in (self.unscoped, first, second):
            self.assertRevoked(token_id)
        self.validate(other)

    def test_rescoped_tokens_stay_without_cascade(self):
        rescoped = self.rescope(self.unscoped, self.proj_employees)

        self.revoke(self.unscoped, '?cascade=false')

        self.assertRevoked(self.unscoped)
        self.validate(rescoped)
