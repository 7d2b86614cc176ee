# SPDX-License-Identifier: Apache-2.0

from keystone.common import provider_api
from keystone import exception
from keystone.tests import unit
from keystone.tests.unit.revoke import base

PROVIDERS = provider_api.ProviderAPIs


class NotCachedTests(base.TokenTestCase):
    """Tokens reflect the current state, whatever is cached."""

    def setUp(self):
        super().setUp()
        ref = unit.new_project_ref(domain_id=self.domain_id)
        self.other = PROVIDERS.resource_api.create_project(ref['id'], ref)
        PROVIDERS.assignment_api.create_grant(
            self.role_id, user_id=self.user_id, project_id=self.other['id']
        )
        self.token = self.issue(project_id=self.other['id'])
        self.assertValid(self.token)

    def change(self, **changes):
        """Change the project as another process does: no token is dropped."""
        resources = PROVIDERS.resource_api
        resources.driver.update_project(self.other['id'], changes)
        resources.get_project.invalidate(resources, self.other['id'])

    def test_disabled_project(self):
        self.change(enabled=False)

        self.assertRaises(
            exception.ProjectNotFound,
            PROVIDERS.token_provider_api.validate_token,
            self.token.id,
        )

    def test_renamed_project(self):
        self.change(name='renamed')

        token = PROVIDERS.token_provider_api.validate_token(self.token.id)
        self.assertEqual('renamed', token.project['name'])
