# SPDX-License-Identifier: Apache-2.0

import contextlib

import fixtures
import testtools

from keystone.common import provider_api
import keystone.exception
from keystone.tests import unit
from keystone.tests.unit.write_order import base
from keystone.token import provider

PROVIDERS = provider_api.ProviderAPIs


class GrantTests(base.WriteOrderTestCase):
    """A role that was taken away is in no token any more."""

    def setUp(self):
        super().setUp()
        self.api = PROVIDERS.assignment_api
        self.token = self.issue(project_id=self.project['id'])
        self.assertAccepted(self.token)

    def join_group(self):
        """Put the user in a new group; its id."""
        group = PROVIDERS.identity_api.create_group(
            unit.new_group_ref(domain_id=self.domain['id'])
        )
        PROVIDERS.identity_api.add_user_to_group(self.user_id, group['id'])
        return group['id']

    def take_all_roles(self):
        """Take the user's own role on the project."""
        self.api.delete_grant(
            self.role_id, user_id=self.user_id, project_id=self.project_id
        )

    def test_role_of_a_user(self):
        with self.read_before(
            self.api.driver, 'delete_grant', self.validate, self.token
        ):
            self.take_all_roles()

        self.assertRefused(self.token)

    def test_role_of_a_group(self):
        group = {'group_id': self.join_group(), 'project_id': self.project_id}
        self.api.create_grant(self.role_id, **group)
        self.take_all_roles()
        self.assertAccepted(self.token)

        with self.read_before(
            self.api.driver, 'delete_grant', self.validate, self.token
        ):
            self.api.delete_grant(self.role_id, **group)

        self.assertRefused(self.token)

    def extra_role(self):
        """Id of a new role of a new group, and that of the group."""
        role = unit.new_role_ref()
        PROVIDERS.role_api.create_role(role['id'], role)
        group = PROVIDERS.identity_api.create_group(
            unit.new_group_ref(domain_id=self.domain['id'])
        )
        self.api.create_grant(
            role['id'], group_id=group['id'], project_id=self.project_id
        )
        return role['id'], group['id']

    def has(self, role_id):
        """Whether the user has a role on the project, to another worker."""
        return role_id in self.elsewhere(
            self.api.get_roles_for_user_and_project,
            self.user_id,
            self.project_id,
        )

    def join(self, role_id, group_id):
        PROVIDERS.identity_api.add_user_to_group(self.user_id, group_id)
        self.assertTrue(self.has(role_id))

    def test_role_of_a_group_that_the_user_just_joins(self):
        role_id, group_id = self.extra_role()

        with self.read_before(
            self.api.driver, 'delete_grant', self.join, role_id, group_id
        ):
            self.api.delete_grant(
                role_id, group_id=group_id, project_id=self.project_id
            )

        self.assertFalse(self.has(role_id))

    def test_deleted_group_that_the_user_just_joins(self):
        role_id, group_id = self.extra_role()

        with self.read_before(
            PROVIDERS.identity_api.driver,
            'delete_group',
            self.join,
            role_id,
            group_id,
        ):
            PROVIDERS.identity_api.delete_group(group_id)

        self.assertFalse(self.has(role_id))

    @contextlib.contextmanager
    def error_after(self, method):
        """Let a driver's answer get lost when it has written."""

        def write_then_fail(write, *args, **kwargs):
            self.elsewhere(self.validate, self.token)
            write(*args, **kwargs)
            raise keystone.exception.UnexpectedError()

        with (
            self.replaced(self.api.driver, method, write_then_fail),
            testtools.ExpectedException(keystone.exception.UnexpectedError),
        ):
            yield

    def test_error_after_the_write(self):
        with self.error_after('delete_grant'):
            self.take_all_roles()

        self.assertRefused(self.token)

    def test_role_that_the_user_does_not_have(self):
        role = unit.new_role_ref()
        PROVIDERS.role_api.create_role(role['id'], role)

        self.assertRaises(
            keystone.exception.RoleAssignmentNotFound,
            self.api.delete_grant,
            role['id'],
            user_id=self.user_id,
            project_id=self.project_id,
        )

        self.assertAccepted(self.token)

    def use_system_token(self):
        self.token = self.issue(system='all')
        self.assertAccepted(self.token)

    def test_system_role_of_a_user(self):
        self.api.create_system_grant_for_user(self.user_id, self.role_id)
        self.use_system_token()

        self.api.delete_system_grant_for_user(self.user_id, self.role_id)

        self.assertRefused(self.token)

    def test_system_role_of_a_group(self):
        group_id = self.join_group()
        self.api.create_system_grant_for_group(group_id, self.role_id)
        self.use_system_token()

        self.api.delete_system_grant_for_group(group_id, self.role_id)

        self.assertRefused(self.token)

    def test_system_role_that_nobody_has(self):
        for delete in (
            self.api.delete_system_grant_for_user,
            self.api.delete_system_grant_for_group,
        ):
            with fixtures.MockPatchObject(
                provider.TOKENS_REGION, 'invalidate'
            ) as invalidate:
                self.assertRaises(
                    keystone.exception.RoleAssignmentNotFound,
                    delete,
                    'unknown',
                    self.role_id,
                )
            invalidate.mock.assert_not_called()

    def test_error_after_the_write_of_a_system_role(self):
        self.api.create_system_grant_for_user(self.user_id, self.role_id)
        self.use_system_token()

        with self.error_after('delete_system_grant'):
            self.api.delete_system_grant_for_user(self.user_id, self.role_id)

        self.assertRefused(self.token)
