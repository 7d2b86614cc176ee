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
