# SPDX-License-Identifier: Apache-2.0

import http.client
import uuid

from keystone.common import provider_api
from keystone.tests import unit
from keystone.tests.unit import test_v3

PROVIDERS = provider_api.ProviderAPIs


class PasswordExpiryTests(test_v3.RestfulTestCase):
    """A new token shows the expiry of the password that was changed."""

    def setUp(self):
        super().setUp()
        self.user = unit.create_user(PROVIDERS.identity_api, self.domain_id)

    def expiry(self, password):
        """What a new token shows as the expiry of the password."""
        request = self.build_authentication_request(
            user_id=self.user['id'], password=password
        )
        token = self.v3_create_token(request).result['token']
        return token['user']['password_expires_at']

    def test_after_a_change_by_the_user(self):
        self.config_fixture.config(
            group='security_compliance', password_expires_days=7
        )
        old, new = self.user['password'], uuid.uuid4().hex
        self.assertIsNone(self.expiry(old))
        self.post(
            f'/users/{self.user["id"]}/password',
            body={'user': {'password': new, 'original_password': old}},
            expected_status=http.client.NO_CONTENT,
            noauth=True,
        )

        self.assertIsNotNone(self.expiry(new))
