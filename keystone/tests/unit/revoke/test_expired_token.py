# SPDX-License-Identifier: Apache-2.0

import http.client

from keystone.common import provider_api
from keystone.tests import unit
from keystone.tests.unit.revoke import base

PROVIDERS = provider_api.ProviderAPIs


class ExpiredTokenTests(base.TokenTestCase):
    """A token can be revoked for as long as a service may accept it."""

    def setUp(self):
        super().setUp()
        self.expired = self.issue(self.expiry(-10))

    def get_expired(self, token, expected_status):
        self.get(
            '/auth/tokens?allow_expired=1',
            headers={'X-Subject-Token': token.id},
            expected_status=expected_status,
        )

    def delete_token(self, token, expected_status, query='', caller=None):
        self.delete(
            f'/auth/tokens{query}',
            headers={'X-Subject-Token': token.id},
            expected_status=expected_status,
            token=caller and caller.id,
        )

    def test_within_the_window(self):
        self.get_expired(self.expired, http.client.OK)

        self.delete_token(self.expired, http.client.NO_CONTENT)

        self.get_expired(self.expired, http.client.NOT_FOUND)

    def test_with_allow_expired(self):
        self.delete_token(
            self.expired, http.client.NO_CONTENT, '?allow_expired=1'
        )

        self.get_expired(self.expired, http.client.NOT_FOUND)

    def test_its_chain_goes_too(self):
        rescoped = self.issue(
            self.expiry(-10),
            project_id=self.project['id'],
            parent_audit_id=self.expired.audit_id,
        )

        self.delete_token(self.expired, http.client.NO_CONTENT)

        self.get_expired(rescoped, http.client.NOT_FOUND)

    def test_its_chain_stays_without_cascade(self):
        rescoped = self.issue(
            self.expiry(-10),
            project_id=self.project['id'],
            parent_audit_id=self.expired.audit_id,
        )

        self.delete_token(
            self.expired, http.client.NO_CONTENT, '?cascade=false'
        )

        self.get_expired(self.expired, http.client.NOT_FOUND)
        self.get_expired(rescoped, http.client.OK)

    def test_twice(self):
        self.delete_token(self.expired, http.client.NO_CONTENT)

        self.delete_token(self.expired, http.client.NOT_FOUND)

    def test_beyond_the_window(self):
        self.config_fixture.config(group='token', allow_expired_window=60)

        self.delete_token(self.expired, http.client.NOT_FOUND)
        self.assertEqual([], PROVIDERS.revoke_api.list_events())

    def test_without_a_window(self):
        self.config_fixture.config(group='token', allow_expired_window=0)

        self.delete_token(self.expired, http.client.NOT_FOUND)
        self.assertEqual([], PROVIDERS.revoke_api.list_events())

    def test_with_a_negative_window(self):
        self.config_fixture.config(group='token', allow_expired_window=-3600)
        token = self.issue(self.expiry(10))

        self.delete_token(token, http.client.NO_CONTENT)

        self.assertRevoked(token)

    def test_by_somebody_else(self):
        user = unit.create_user(
            PROVIDERS.identity_api, domain_id=self.domain['id']
        )
        stranger = self.issue(user_id=user['id'])

        self.delete_token(self.expired, http.client.FORBIDDEN, caller=stranger)

        self.get_expired(self.expired, http.client.OK)

    def test_by_itself(self):
        self.delete_token(
            self.expired, http.client.UNAUTHORIZED, caller=self.expired
        )

    def test_validation_still_refuses_it(self):
        self.get(
            '/auth/tokens',
            headers={'X-Subject-Token': self.expired.id},
            expected_status=http.client.NOT_FOUND,
        )
