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

from keystone.common import cache
from keystone.common import provider_api
from keystone.tests.unit.revoke import base
from keystone.token import provider

PROVIDERS = provider_api.ProviderAPIs


class UnpatchedNodesTests(base.TokenTestCase):
    """An answer that an unpatched node has cached does not outlive a DELETE.

    Such a node keeps in the region of tokens that a token is not revoked.
    """

    def setUp(self):
        super().setUp()
        self.config_fixture.config(group='cache_stamps', unpatched_nodes=True)
        self.asked = []

        @cache.get_memoization_decorator(
            group='token', region=provider.TOKENS_REGION
        )
        def check(values):
            self.asked.append(values)
            return 'not revoked'

        self.check = check
        self.token = self.issue(project_id=self.project['id'])

    def asks_after(self, revoke, *args, **kwargs):
        """Whether an answer is asked for anew after something is revoked."""
        self.check(self.token.id)
        self.check(self.token.id)
        self.assertEqual(1, len(self.asked))
        revoke(*args, **kwargs)
        self.check(self.token.id)
        return len(self.asked) == 2

    def test_token(self):
        revoke = PROVIDERS.token_provider_api.revoke_token
        self.assertTrue(self.asks_after(revoke, self.token.id))

    def test_token_without_its_chain(self):
        revoke = PROVIDERS.token_provider_api.revoke_token
        self.assertTrue(
            self.asks_after(revoke, self.token.id, revoke_chain=False)
        )

    def test_token_through_the_api(self):
        self.assertTrue(self.asks_after(self.delete_token, self.token))

    def test_whatever_writes_an_event(self):
        self.assertTrue(self.asks_after(self.revoke, project_id='project'))

    def test_no_unpatched_nodes(self):
        self.config_fixture.config(group='cache_stamps', unpatched_nodes=False)
        revoke = PROVIDERS.token_provider_api.revoke_token
        self.assertFalse(self.asks_after(revoke, self.token.id))
