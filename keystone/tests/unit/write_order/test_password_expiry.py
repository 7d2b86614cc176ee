# SPDX-License-Identifier: Apache-2.0

import http.client
import uuid

from oslo_context import context as oslo_context

from keystone.common import provider_api
from keystone.tests import unit
from keystone.tests.unit import test_v3

PROVIDERS = provider_api.ProviderAPIs


class PasswordExpiryTests(test_v3.RestfulTestCase):
    """A user who changes the password is shown with the new expiry."""

    def setUp(self):
        super().setUp()
        self.user = unit.create_user(PROVIDERS.identity_api, self.domain_id)
        PROVIDERS.assignment_api.create_grant(
            self.role_id, user_id=self.user['id'], project_id=self.project_id
        )
        self.caller = self.get_scoped_token()
        self.subject = self.get_requested_token(
            self.build_authentication_request(
                user_id=self.user['id'],
                password=self.user['password'],
                project_id=self.project_id,
            )
        )

    def show(self):
        return self.get(
            '/auth/tokens',
            token=self.caller,
            headers={'X-Subject-Token': self.subject},
        ).result['token']

    def test_after_a_change_by_the_user(self):
        self.config_fixture.config(
            group='security_compliance', password_expires_days=7
        )
        self.assertIsNone(self.show()['user']['password_expires_at'])
        password = uuid.uuid4().hex
        self.post(
            f'/users/{self.user["id"]}/password',
            body={
                'user': {
                    'password': password,
                    'original_password': self.user['password'],
                }
            },
            expected_status=http.client.NO_CONTENT,
            noauth=True,
        )
        oslo_context.RequestContext(overwrite=True)

        user = PROVIDERS.identity_api.get_user(self.user['id'])
        self.assertIsNotNone(user['password_expires_at'])
