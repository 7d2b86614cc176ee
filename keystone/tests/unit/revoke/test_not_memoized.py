# SPDX-License-Identifier: Apache-2.0

from keystone.common import provider_api
from keystone.models import revoke_model
from keystone.revoke import core
from keystone.tests.unit.revoke import base

PROVIDERS = provider_api.ProviderAPIs


class NotMemoizedTests(base.TokenTestCase):
    """A cached entry never decides whether a token is revoked."""

    def revoke_elsewhere(self, **attributes):
        """Revoke as another worker does, which knows no key of ours."""
        event = revoke_model.RevokeEvent(**attributes)
        PROVIDERS.revoke_api.driver.revoke(event)
        core.REVOKE_REGION.invalidate()

    def test_revocation_by_another_worker(self):
        token = self.issue(project_id=self.project['id'])
        self.assertValid(token)

        self.revoke_elsewhere(audit_id=token.audit_id)

        self.assertRevoked(token)

    def test_revocation_of_the_chain_by_another_worker(self):
        root, child = self.issue_chain()
        self.assertValid(child)

        self.revoke_elsewhere(audit_chain_id=root.audit_id)

        self.assertRevoked(child)

    def test_token_that_is_not_revoked_stays_valid(self):
        token = self.issue(project_id=self.project['id'])
        self.assertValid(token)

        self.revoke_elsewhere(audit_id='another')

        self.assertValid(token)
