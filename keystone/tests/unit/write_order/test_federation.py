# Licensed under the Apache License, Version 2.0 (the "License"); you may
# not use this file except in compliance with the License. You may obtain
# a copy of the License at
#
#      http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the
# License for the specific language governing permissions and limitations
# under the License.

import http.client

from keystone.common import provider_api
import keystone.exception
from keystone.tests.unit import test_v3_federation
from keystone.tests.unit.write_order import base

PROVIDERS = provider_api.ProviderAPIs


class FederationTests(
    base.WriteOrderTestCase, test_v3_federation.FederatedSetupMixin
):
    """Tokens end with the trust in who has vouched for the user."""

    def auth_plugin_config_override(self):
        super().auth_plugin_config_override(['saml2', 'token', 'password'])

    def load_fixtures(self, fixtures):
        super().load_fixtures(fixtures)
        self.load_federation_sample_data()

    def setUp(self):
        super().setUp()
        self.api = PROVIDERS.federation_api
        self.idp_id = self.idp['id']
        self.protocol_id = self.proto_saml['id']
        unscoped = self._issue_unscoped_token(assertion='ADMIN_ASSERTION').id
        response = self.v3_create_token(
            self._scope_request(unscoped, 'project', self.proj_employees['id'])
        )
        self.token_id = response.headers['X-Subject-Token']
        self.federated_id = self.validate()

    def validate(self):
        """Validate the token; its user's id."""
        api = PROVIDERS.token_provider_api
        return self.elsewhere(api.validate_token, self.token_id).user_id

    def assertRefused(self):
        self.assertRaises(keystone.exception.NotFound, self.validate)
        self.head(
            '/auth/tokens',
            headers={'X-Subject-Token': self.token_id},
            expected_status=http.client.NOT_FOUND,
        )

    def set_enabled(self, enabled):
        self.patch(
            f'/OS-FEDERATION/identity_providers/{self.idp_id}',
            body={'identity_provider': {'enabled': enabled}},
        )

    def delete_protocol(self):
        self.delete(
            f'/OS-FEDERATION/identity_providers/{self.idp_id}'
            f'/protocols/{self.protocol_id}'
        )

    def delete_identity_provider(self):
        self.delete(f'/OS-FEDERATION/identity_providers/{self.idp_id}')

    def assertUserForgotten(self):
        """A user who came from there only is not in the cache any more."""
        self.assertRaises(
            keystone.exception.UserNotFound,
            self.elsewhere,
            PROVIDERS.identity_api.get_user,
            self.federated_id,
        )

    def test_identity_provider_that_is_disabled(self):
        with self.read_before(self.api.driver, 'update_idp', self.validate):
            self.set_enabled(False)

        self.assertRefused()
        self.set_enabled(True)
        self.validate()

    def test_identity_provider_that_is_changed(self):
        self.patch(
            f'/OS-FEDERATION/identity_providers/{self.idp_id}',
            body={'identity_provider': {'description': 'other'}},
        )

        self.validate()

    def test_identity_provider_that_is_deleted(self):
        with self.read_before(self.api.driver, 'delete_idp', self.validate):
            self.delete_identity_provider()

        self.assertRefused()
        self.assertUserForgotten()

    def test_protocol_that_is_deleted(self):
        with self.read_before(
            self.api.driver, 'delete_protocol', self.validate
        ):
            self.delete_protocol()

        self.assertRefused()
        self.assertUserForgotten()
