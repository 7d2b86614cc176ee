# SPDX-License-Identifier: Apache-2.0

from oslo_context import context as oslo_context
from oslo_utils import timeutils

from keystone.common import provider_api
from keystone.common import sql
from keystone.identity.backends import sql_model
from keystone.tests import unit
from keystone.tests.unit import test_v3

PROVIDERS = provider_api.ProviderAPIs


class MembershipTests(test_v3.RestfulTestCase):
    """Memberships in groups end with the provider that they come from."""

    def roles(self):
        oslo_context.RequestContext(overwrite=True)
        return PROVIDERS.assignment_api.get_roles_for_user_and_project(
            self.user_id, self.project_id
        )

    def test_identity_provider_deleted(self):
        self.config_fixture.config(
            group='federation', default_authorization_ttl=5
        )
        PROVIDERS.federation_api.create_idp(
            'idp', {'enabled': True, 'domain_id': self.domain_id}
        )
        role = unit.new_role_ref()
        PROVIDERS.role_api.create_role(role['id'], role)
        group = PROVIDERS.identity_api.create_group(
            unit.new_group_ref(domain_id=self.domain_id)
        )
        PROVIDERS.assignment_api.create_grant(
            role['id'], group_id=group['id'], project_id=self.project_id
        )
        with sql.session_for_write() as session:
            session.add(
                sql_model.ExpiringUserGroupMembership(
                    user_id=self.user_id,
                    group_id=group['id'],
                    idp_id='idp',
                    last_verified=timeutils.utcnow(),
                )
            )
        self.assertIn(role['id'], self.roles())

        PROVIDERS.federation_api.delete_idp('idp')

        self.assertNotIn(role['id'], self.roles())
