# SPDX-License-Identifier: Apache-2.0

"""Roles of system tokens, from the cache."""

from oslo_context import context as oslo_context
from oslo_utils import fixture as oslo_fixture
from oslo_utils import timeutils

from keystone.common import provider_api
from keystone import exception
from keystone.models import token_model
from keystone.tests.unit.assignment import affected_base
from keystone.tests.unit.assignment import directory
from keystone.tests.unit.assignment import token_roles_base

PROVIDERS = provider_api.ProviderAPIs


class SystemRolesTests(
    token_roles_base.CachedTests, token_roles_base.TokenRolesTestCase
):
    def setUp(self):
        super().setUp()
        self.grant(self.user_id, self.role_id)
        self.token = self.get_system_scoped_token()
        self.roles(self.token)

    def grant(self, user_id, role_id):
        PROVIDERS.assignment_api.create_system_grant_for_user(user_id, role_id)

    def test_own_grant(self):
        self.grant(self.user_id, self.extra)
        self.assertSeen(self.token, self.extra)

        PROVIDERS.assignment_api.delete_system_grant_for_user(
            self.user_id, self.extra
        )
        self.assertSeen(self.token, self.extra, False)

    def test_last_grant(self):
        PROVIDERS.assignment_api.delete_system_grant_for_user(
            self.user_id, self.role_id
        )

        self.assertRaises(exception.NotFound, self.roles, self.token)

    def test_group(self):
        PROVIDERS.assignment_api.create_system_grant_for_group(
            self.group, self.extra
        )
        PROVIDERS.identity_api.add_user_to_group(self.user_id, self.group)
        self.assertSeen(self.token, self.extra)

        PROVIDERS.assignment_api.delete_system_grant_for_group(
            self.group, self.extra
        )
        self.assertSeen(self.token, self.extra, False)

    def test_role_deleted(self):
        self.grant(self.user_id, self.extra)
        self.assertSeen(self.token, self.extra)

        PROVIDERS.role_api.delete_role(self.extra)
        self.assertSeen(self.token, self.extra, False)

    def test_others(self):
        self.grant(self.other['id'], self.role_id)
        PROVIDERS.identity_api.add_user_to_group(self.other['id'], self.group)
        PROVIDERS.assignment_api.create_system_grant_for_group(
            self.group, self.extra
        )

        self.assertCached(self.token)


class ExpiringMembershipTests(token_roles_base.TokenRolesTestCase):
    """A membership that ends unless the identity provider confirms it."""

    def setUp(self):
        super().setUp()
        self.join(self.user_id, self.group)
        PROVIDERS.assignment_api.create_system_grant_for_user(
            self.user_id, self.role_id
        )
        PROVIDERS.assignment_api.create_system_grant_for_group(
            self.group, self.extra
        )
        self.token = self.get_system_scoped_token()

    def test_it_ends_and_is_renewed(self):
        both = {self.role_id, self.extra}
        self.assertEqual(both, self.roles(self.token)[0])

        clock = self.useFixture(oslo_fixture.TimeFixture())
        clock.advance_time_seconds(360)
        self.assertEqual({self.role_id}, self.roles(self.token)[0])

        confirmed = {'last_verified': timeutils.utcnow()}
        self.write(affected_base.MEMBERSHIPS.update().values(confirmed))
        self.assertEqual(both, self.roles(self.token)[0])


class DirectoryTests(directory.DirectoryTestCase):
    """Users and groups in a directory, which changes on its own."""

    def roles(self):
        oslo_context.RequestContext(overwrite=True)
        token = token_model.TokenModel()
        token.user_id, token.system = self.user_foo['id'], 'all'
        return {role['id'] for role in token.roles}

    def test_membership_removed(self):
        own, of_group = self.role_admin['id'], self.role_member['id']
        PROVIDERS.assignment_api.create_system_grant_for_user(
            self.user_foo['id'], own
        )
        PROVIDERS.assignment_api.create_system_grant_for_group(
            self.group['id'], of_group
        )
        self.assertEqual({own, of_group}, self.roles())

        self.leave()
        self.assertEqual({own}, self.roles())


class OnceTests(token_roles_base.TokenRolesTestCase):
    """The roles of a token model are resolved once."""

    def setUp(self):
        super().setUp()
        self.model = PROVIDERS.token_provider_api.validate_token(
            self.get_scoped_token()
        )
        self.role_ids = [role['id'] for role in self.model.roles]

    def test_grant_meanwhile(self):
        PROVIDERS.assignment_api.create_grant(
            self.extra, user_id=self.user_id, project_id=self.project_id
        )

        self.assertEqual(
            self.role_ids, [one['id'] for one in self.model.roles]
        )
        self.assertIn(self.extra, self.roles(self.model.id)[0])

    def test_caller_changes_what_it_got(self):
        self.model.roles[0].clear()
        self.model.roles.clear()

        self.assertEqual(
            self.role_ids, [one['id'] for one in self.model.roles]
        )
