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

"""Users who sign in by an identity provider."""

from keystone.tests.unit import test_v3_federation


class SignedInMixin(test_v3_federation.FederatedSetupMixin):
    """For a RestfulTestCase: identity providers, mappings and assertions."""

    def auth_plugin_config_override(self):
        super().auth_plugin_config_override(['saml2', 'token', 'password'])

    def load_fixtures(self, fixtures):
        super().load_fixtures(fixtures)
        self.load_federation_sample_data()
