# SPDX-License-Identifier: Apache-2.0

import uuid

from keystone.common import provider_api
import keystone.exception
from keystone.tests.unit.write_order import base

PROVIDERS = provider_api.ProviderAPIs


class OAuth1Tests(base.WriteOrderTestCase):
    """What was delegated ends with the delegation."""

    def setUp(self):
        super().setUp()
        self.api = PROVIDERS.oauth_api
        self.consumer = self.api.create_consumer({'id': uuid.uuid4().hex})
        request = self.api.create_request_token(
            self.consumer['id'], self.project_id, 0
        )
        self.api.authorize_request_token(
            request['id'], self.user_id, [self.role_id]
        )
        self.access_token = self.api.create_access_token(request['id'], 0)
        self.token = self.issue(
            project_id=self.project_id,
            auth_context={'access_token_id': self.access_token['id']},
        )
        self.assertAccepted(self.token)

    def test_access_token(self):
        with self.read_before(
            self.api.driver, 'delete_access_token', self.validate, self.token
        ):
            self.delete(
                f'/users/{self.user_id}/OS-OAUTH1/access_tokens/'
                f'{self.access_token["id"]}'
            )

        self.assertRefused(self.token, keystone.exception.NotFound)

    def test_consumer(self):
        with self.read_before(
            self.api.driver, 'delete_consumer', self.validate, self.token
        ):
            self.delete(f'/OS-OAUTH1/consumers/{self.consumer["id"]}')

        self.assertRefused(self.token, keystone.exception.NotFound)
