# SPDX-License-Identifier: Apache-2.0

"""Whose computed role assignments the deletion of a role or domain drops."""

from unittest import mock

import fixtures
from oslo_context import context as oslo_context

from keystone import assignment
from keystone.assignment import affected
from keystone.assignment.role_backends import sql as sql_roles
from keystone.common import provider_api
from keystone.common import sql
from keystone.tests import unit
from keystone.tests.unit.assignment import affected_base

PROVIDERS = provider_api.ProviderAPIs
REGION = assignment.COMPUTED_ASSIGNMENTS_REGION


class DeletionTests(affected_base.AffectedTestCase):
    """Those who had the role, or a role on the domain, and no others."""

    def delete_role(self):
        PROVIDERS.role_api.delete_role(self.extra['id'])

    def assertDropsAll(self, change):
        self.roles(self.other['id'])
        change()
        self.assertTrue(self.roles(self.other['id'])[1])

    def test_role_of_a_user(self):
        self.grant(user_id=self.user_id)
        self.assertIn(self.extra['id'], self.roles(self.user_id)[0])

        roles = self.assertDrops(self.delete_role)

        self.assertNotIn(self.extra['id'], roles)

    def test_role_of_a_group(self):
        self.join_group()

        roles = self.assertDrops(self.delete_role)

        self.assertNotIn(self.extra['id'], roles)

    def test_role_on_the_system(self):
        grant = PROVIDERS.assignment_api.create_system_grant_for_user
        grant(self.user_id, self.extra['id'])

        def roles():
            oslo_context.RequestContext(overwrite=True)
            found = PROVIDERS.assignment_api.list_role_assignments(
                user_id=self.user_id, system='all'
            )
            return [one['role_id'] for one in found]

        self.assertEqual([self.extra['id']], roles())
        self.assertDrops(self.delete_role)
        self.assertEqual([], roles())

    def test_role_of_nobody(self):
        self.roles(self.user_id)
        self.assertDrops(self.delete_role)
        self.assertFalse(self.roles(self.user_id)[1])

    def test_implied_role(self):
        PROVIDERS.role_api.create_implied_role(self.role_id, self.extra['id'])
        self.assertIn(self.extra['id'], self.roles(self.user_id)[0])

        self.assertDropsAll(self.delete_role)

        self.assertNotIn(self.extra['id'], self.roles(self.user_id)[0])

    def test_role_that_implies(self):
        implied = unit.new_role_ref()
        PROVIDERS.role_api.create_role(implied['id'], implied)
        PROVIDERS.role_api.create_implied_role(self.extra['id'], implied['id'])
        self.assertDropsAll(self.delete_role)

    def test_role_of_many_users(self):
        self.useFixture(
            fixtures.MonkeyPatch('keystone.assignment.affected._MOST_USERS', 1)
        )
        for _ in range(3):
            user = unit.create_user(PROVIDERS.identity_api, self.domain_id)
            self.grant(user_id=user['id'])
        self.assertDropsAll(self.delete_role)

    def test_domain(self):
        domain = unit.new_domain_ref(enabled=False)
        PROVIDERS.resource_api.create_domain(domain['id'], domain)

        def roles():
            oslo_context.RequestContext(overwrite=True)
            return PROVIDERS.assignment_api.get_roles_for_user_and_domain(
                self.user_id, domain['id']
            )

        PROVIDERS.assignment_api.create_grant(
            self.extra['id'], user_id=self.user_id, domain_id=domain['id']
        )
        self.assertEqual([self.extra['id']], roles())
        self.roles(self.other['id'])

        PROVIDERS.resource_api.delete_domain(domain['id'])

        self.assertFalse(self.roles(self.other['id'])[1])
        # As with an explicit_domain_id.
        PROVIDERS.resource_api.create_domain(domain['id'], domain)
        self.assertEqual([], roles())

    def test_database_that_does_not_tell(self):
        self.useFixture(self.without_returning())
        self.grant(user_id=self.user_id)
        self.assertIn(self.extra['id'], self.roles(self.user_id)[0])
        self.assertDropsAll(self.delete_role)
        self.assertNotIn(self.extra['id'], self.roles(self.user_id)[0])

    def test_database_that_does_not_tell_of_nobody(self):
        self.useFixture(self.without_returning())
        self.assertDrops(self.delete_role)

    def test_another_driver(self):
        driver = PROVIDERS.assignment_api.driver

        def delete_role_assignments(role_id):
            with sql.session_for_write() as session:
                table = sql.ModelBase.metadata.tables['assignment']
                session.execute(
                    table.delete().where(table.c.role_id == role_id)
                )

        self.grant(user_id=self.user_id)
        self.assertIn(self.extra['id'], self.roles(self.user_id)[0])
        with mock.patch.object(
            driver, 'delete_role_assignments', delete_role_assignments
        ):
            self.assertDropsAll(self.delete_role)
        self.assertNotIn(self.extra['id'], self.roles(self.user_id)[0])

    def test_error_after_the_assignments_were_deleted(self):
        self.grant(user_id=self.user_id)
        self.assertIn(self.extra['id'], self.roles(self.user_id)[0])
        with mock.patch.object(
            sql_roles.Role, 'delete_role', side_effect=RuntimeError
        ):
            self.assertRaises(RuntimeError, self.delete_role)
        self.assertNotIn(self.extra['id'], self.roles(self.user_id)[0])

    def test_role_granted_meanwhile(self):
        """After its assignments were deleted, and before the role is."""
        remove_references = affected.remove_references

        def grant_and_remove(session, role_id):
            self.grant(user_id=self.user_id)
            self.assertIn(role_id, self.roles(self.user_id)[0])
            remove_references(session, role_id)

        with mock.patch.object(
            affected, 'remove_references', grant_and_remove
        ):
            self.delete_role()
        roles, were_read = self.roles(self.user_id)
        self.assertNotIn(self.extra['id'], roles)
        self.assertTrue(were_read)

    def test_reader_before_the_commit(self):
        """What is read before the commit is dropped after it."""
        self.grant(user_id=self.user_id)
        remove_references, seen = affected.remove_references, []

        def read_and_remove(session, role_id):
            remove_references(session, role_id)
            # The assignments were deleted, but the reader did not see that.
            self.roles(self.user_id)
            seen.append(True)

        with mock.patch.object(affected, 'remove_references', read_and_remove):
            self.delete_role()
        self.assertTrue(seen)
        self.assertTrue(self.roles(self.user_id)[1])
