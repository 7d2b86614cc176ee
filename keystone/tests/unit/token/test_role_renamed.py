# SPDX-License-Identifier: Apache-2.0

import uuid

from keystone.common import authorization
from keystone.common import cache
from keystone.common import provider_api
from keystone.tests import unit
from keystone.tests.unit.revoke import base

PROVIDERS = provider_api.ProviderAPIs


class RolesTestCase(base.TokenTestCase):
    """Roles in the tokens of an application credential."""

    def issue(self, *role_ids):
        credential = unit.new_application_credential_ref(
            roles=[{'id': one} for one in role_ids], secret=uuid.uuid4().hex
        )
        credential.update(user_id=self.user_id, project_id=self.project_id)
        PROVIDERS.application_credential_api.create_application_credential(
            credential
        )
        return PROVIDERS.token_provider_api.issue_token(
            self.user_id,
            ['application_credential'],
            project_id=self.project_id,
            app_cred_id=credential['id'],
        )

    def names(self):
        """Names of the roles that the token's validation shows."""
        response = self.get(
            '/auth/tokens',
            headers={authorization.SUBJECT_TOKEN_HEADER: self.token.id},
        )
        return [role['name'] for role in response.result['token']['roles']]


class RoleRenamedTests(RolesTestCase):
    """A role has a new name."""

    def setUp(self):
        super().setUp()
        self.token = self.issue(self.role_id)

    def rename(self):
        name = uuid.uuid4().hex
        self.patch(f'/roles/{self.role_id}', body={'role': {'name': name}})
        return name

    def test_subject(self):
        self.assertEqual([self.role['name']], self.names())

        name = self.rename()

        self.assertEqual([name], self.names())

    def test_caller(self):
        """Policy rules see the new name."""
        self.assertEqual([self.role['name']], self.names())

        name = self.rename()

        response = self.get(
            '/auth/tokens',
            token=self.token.id,
            headers={authorization.SUBJECT_TOKEN_HEADER: self.token.id},
        )
        seen = response.request.environ[authorization.AUTH_CONTEXT_ENV]
        self.assertEqual([name], seen['roles'])


class RoleDeletedTests(RolesTestCase):
    """A role is deleted that the user had without a grant."""

    def setUp(self):
        super().setUp()
        implied = unit.new_role_ref()
        api = PROVIDERS.role_api
        api.create_role(implied['id'], implied)
        api.create_implied_role(self.role_id, implied['id'])
        self.token = self.issue(self.role_id, implied['id'])
        self.assertCountEqual(
            [self.role['name'], implied['name']], self.names()
        )
        api.delete_role(implied['id'])
        cache.CACHE_REGION.invalidate()

    def test_validation(self):
        self.assertEqual([self.role['name']], self.names())

    def test_list(self):
        response = self.get(f'/users/{self.user_id}/application_credentials')
        (credential,) = response.result['application_credentials']
        roles = [role['name'] for role in credential['roles']]
        self.assertEqual([self.role['name']], roles)
