# SPDX-License-Identifier: Apache-2.0

from keystone.common import provider_api
from keystone.tests import unit
from keystone.tests.unit.revoke import base

PROVIDERS = provider_api.ProviderAPIs


class ScopeRolesTests(base.TokenTestCase):
    """Tokens of a group's members whose grant is removed."""

    def config_overrides(self):
        super().config_overrides()
        self.config_fixture.config(group='token', revoke_by_id=False)

    def setUp(self):
        super().setUp()
        user = unit.new_user_ref(domain_id=self.domain_id)
        self.member = PROVIDERS.identity_api.create_user(user)['id']
        group = unit.new_group_ref(domain_id=self.domain_id)
        self.group = PROVIDERS.identity_api.create_group(group)['id']
        PROVIDERS.identity_api.add_user_to_group(self.member, self.group)

    def check(self, path, **scope):
        self.put(f'{path}/groups/{self.group}/roles/{self.role_id}')
        token = self.issue(user_id=self.member, **scope)
        self.assertValid(token)

        self.delete(f'{path}/groups/{self.group}/roles/{self.role_id}')

        self.assertRevoked(token)
        self.get(
            '/auth/tokens',
            headers={'X-Subject-Token': token.id},
            expected_status=404,
        )

    def test_project(self):
        self.check(f'/projects/{self.project_id}', project_id=self.project_id)

    def test_domain(self):
        self.check(f'/domains/{self.domain_id}', domain_id=self.domain_id)

    def test_system(self):
        self.check('/system', system='all')

    def test_other_role_remains(self):
        role = unit.new_role_ref()
        PROVIDERS.role_api.create_role(role['id'], role)
        path = f'/projects/{self.project_id}/groups/{self.group}/roles'
        for one in (role['id'], self.role_id):
            self.put(f'{path}/{one}')
        token = self.issue(user_id=self.member, project_id=self.project_id)

        self.delete(f'{path}/{self.role_id}')

        self.assertValid(token)

    def test_unscoped(self):
        token = self.issue(user_id=self.member)

        self.assertValid(token)
        self.assertValid(token)
