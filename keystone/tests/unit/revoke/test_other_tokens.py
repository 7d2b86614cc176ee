# SPDX-License-Identifier: Apache-2.0

from keystone.common import provider_api
from keystone.tests.unit.revoke import base
from keystone.token import provider

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

    def test_children_stay_valid_if_the_chain_is_not_revoked(self):
        root, child = self.issue_chain()
        self.assertValid(child)

        self.provider.revoke_token(root.id, revoke_chain=False)

        self.assertValid(child)
        self.assertRevoked(root)

    def test_region_of_earlier_releases(self):
        """Their nodes cache there that a token is not revoked."""
        manager = provider.TOKENS_REGION.region_invalidator._region_manager
        for revoke_chain in (True, False):
            token = self.issue()
            before = manager.region_id

            self.provider.revoke_token(token.id, revoke_chain)

            self.assertNotEqual(before, manager.region_id)
