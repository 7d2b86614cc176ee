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

from keystone.common import provider_api
from keystone.tests.unit.revoke import base

PROVIDERS = provider_api.ProviderAPIs


class OtherTokensTests(base.TokenTestCase):
    """Revoking a token leaves other tokens alone."""

    def setUp(self):
        super().setUp()
        self.provider = PROVIDERS.token_provider_api

    def test_other_tokens_stay_valid(self):
        ours = self.issue(project_id=self.project['id'])
        others = self.issue()
        self.assertValid(others)

        self.provider.revoke_token(ours.id)

        self.assertValid(others)

    def test_cached_tokens_of_the_chain_are_refused(self):
        root, child = self.issue_chain()
        self.assertValid(root)
        self.assertValid(child)

        self.provider.revoke_token(root.id)

        self.assertRevoked(child)
        self.assertRevoked(root)

    def test_cached_children_live_on_if_the_chain_is_not_revoked(self):
        root, child = self.issue_chain()
        self.assertValid(child)

        self.provider.revoke_token(root.id, revoke_chain=False)

        self.assertValid(child)
        self.assertRevoked(root)
