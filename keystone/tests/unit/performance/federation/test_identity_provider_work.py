# SPDX-License-Identifier: Apache-2.0

import fixtures

from keystone.common import provider_api
from keystone.federation import idp_enabled
from keystone.tests.unit.federation import signed_in
from keystone.tests.unit.write_order import base

PROVIDERS = provider_api.ProviderAPIs


class IdentityProviderWorkTests(
    signed_in.SignedInMixin, base.WriteOrderTestCase
):
    """What it costs to know that an identity provider is enabled."""

    def setUp(self):
        super().setUp()
        self.federated = self._issue_unscoped_token()
        self.local = self.issue()
        for token in (self.federated, self.local):
            self.elsewhere(self.validate, token)
        self.asked = []
        ask = idp_enabled.REGION.get_or_create

        def note(*args, **kwargs):
            self.asked.append(args)
            return ask(*args, **kwargs)

        self.useFixture(
            fixtures.MockPatchObject(idp_enabled.REGION, 'get_or_create', note)
        )

    def reads(self):
        """List that receives each identity provider that is read."""
        found = []

        def note(get, idp_id):
            found.append(idp_id)
            return get(idp_id)

        replaced = self.replaced(
            PROVIDERS.federation_api.driver, 'get_idp', note
        )
        replaced.__enter__()
        self.addCleanup(replaced.__exit__, None, None, None)
        return found

    def test_token_of_another_user(self):
        for _ in range(10):
            self.elsewhere(self.validate, self.local)

        self.assertEqual([], self.asked)

    def test_federated_token(self):
        reads = self.reads()

        for _ in range(10):
            self.elsewhere(self.validate, self.federated)

        self.assertEqual([], reads)
        self.assertEqual(10, len(self.asked))
