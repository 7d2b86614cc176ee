# SPDX-License-Identifier: Apache-2.0

import fixtures

from keystone.common import provider_api
from keystone import exception
from keystone.models import revoke_model
from keystone.models import token_model
from keystone.tests.unit.revoke import base

PROVIDERS = provider_api.ProviderAPIs


class RolesOnDemandTests(base.TokenTestCase):
    """The roles of a token are looked up where an event may need them."""

    def setUp(self):
        super().setUp()
        self.token = self.issue(project_id=self.project['id'])
        self.looked_up = 0
        roles = token_model.TokenModel._get_project_roles

        def count(token):
            self.looked_up += 1
            return roles(token)

        self.useFixture(
            fixtures.MonkeyPatch(
                'keystone.models.token_model.TokenModel._get_project_roles',
                count,
            )
        )

    def check(self):
        """Compare the token with the events, and do nothing else."""
        PROVIDERS.token_provider_api.check_revocation(self.token)

    def assertLookedUp(self, most):
        self.config_fixture.config(group='revoke', max_events_in_memory=most)
        self.revoke(user_id='another')
        self.revoke(role_id='another', user_id='another')
        self.check()
        self.assertEqual(0, self.looked_up)

        self.revoke(role_id='another')
        self.check()
        self.assertEqual(1, self.looked_up)

        self.revoke(role_id=self.role_id)
        self.assertRaises(exception.TokenNotFound, self.check)
        self.assertEqual(2, self.looked_up)

    def test_with_the_tree(self):
        self.assertLookedUp(1000)

    def test_without_the_tree(self):
        self.assertLookedUp(0)

    def test_the_values_name_the_roles(self):
        roles = revoke_model.build_token_values(self.token)['roles']

        self.assertEqual([self.role_id], roles())
