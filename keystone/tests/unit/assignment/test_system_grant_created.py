# SPDX-License-Identifier: Apache-2.0

from oslo_context import context as oslo_context

from keystone.common import provider_api
from keystone.tests import unit
from keystone.tests.unit import test_v3

PROVIDERS = provider_api.ProviderAPIs


class SystemGrantCreatedTests(test_v3.RestfulTestCase):
    """A cached list of role assignments shows a new system grant."""

    def system_roles(self, **actor):
        """Ids of the roles on the system, as a new request finds them."""
        oslo_context.RequestContext(overwrite=True)
        found = PROVIDERS.assignment_api.list_role_assignments(
            system='all', **actor
        )
        return {one['role_id'] for one in found if 'system' in one}

    def test_of_a_user(self):
        user = unit.create_user(PROVIDERS.identity_api, self.domain_id)
        self.assertEqual(set(), self.system_roles(user_id=user['id']))

        PROVIDERS.assignment_api.create_system_grant_for_user(
            user['id'], self.role_id
        )

        self.assertEqual({self.role_id}, self.system_roles(user_id=user['id']))

    def test_of_a_group(self):
        group = PROVIDERS.identity_api.create_group(
            unit.new_group_ref(domain_id=self.domain_id)
        )
        self.assertEqual(set(), self.system_roles(group_id=group['id']))

        PROVIDERS.assignment_api.create_system_grant_for_group(
            group['id'], self.role_id
        )

        self.assertEqual(
            {self.role_id}, self.system_roles(group_id=group['id'])
        )
