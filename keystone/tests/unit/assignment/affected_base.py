# SPDX-License-Identifier: Apache-2.0

import fixtures
from oslo_context import context as oslo_context
from oslo_utils import timeutils
import sqlalchemy
from sqlalchemy import event

from keystone.common import provider_api
from keystone.common import sql
from keystone.identity.backends import sql_model
from keystone.tests import unit
from keystone.tests.unit import test_v3

PROVIDERS = provider_api.ProviderAPIs
MEMBERSHIPS = sql_model.ExpiringUserGroupMembership.__table__


class AssignmentTestCase(test_v3.RestfulTestCase):
    """Tells what is read, and adds users to groups for a while."""

    def read(self, function, *args, **kwargs):
        """Call a function in a new request.

        :returns: its result, and the statements
        """
        oslo_context.RequestContext(overwrite=True)
        statements = []

        def note(*args):
            statements.append(args[2])

        event.listen(sqlalchemy.Engine, 'before_cursor_execute', note)
        try:
            return function(*args, **kwargs), statements
        finally:
            event.remove(sqlalchemy.Engine, 'before_cursor_execute', note)

    def join(self, user_id, group_id):
        """Add a user to a group for five minutes, as an identity provider."""
        PROVIDERS.federation_api.create_idp(
            'idp',
            {
                'id': 'idp',
                'domain_id': self.domain_id,
                'authorization_ttl': 5,
                'enabled': True,
            },
        )
        self.write(
            MEMBERSHIPS.insert().values(
                user_id=user_id,
                group_id=group_id,
                idp_id='idp',
                last_verified=timeutils.utcnow(),
            )
        )

    def write(self, statement):
        with sql.session_for_write() as session:
            session.execute(statement)


class AffectedTestCase(AssignmentTestCase):
    """Tells whether roles and projects come from the cache."""

    def setUp(self):
        super().setUp()
        self.other = unit.create_user(PROVIDERS.identity_api, self.domain_id)
        self.extra = unit.new_role_ref()
        PROVIDERS.role_api.create_role(self.extra['id'], self.extra)
        PROVIDERS.assignment_api.create_grant(
            self.role_id, user_id=self.other['id'], project_id=self.project_id
        )
        group = unit.new_group_ref(domain_id=self.domain_id)
        self.group = PROVIDERS.identity_api.create_group(group)

    def roles(self, user_id):
        """The roles of a user on the project, and what was read."""
        roles, statements = self.read(
            PROVIDERS.assignment_api.get_roles_for_user_and_project,
            user_id,
            self.project_id,
        )
        return set(roles), statements

    def projects(self, user_id):
        """The projects of a user, and what was read."""
        projects, statements = self.read(
            PROVIDERS.assignment_api.list_projects_for_user, user_id
        )
        return {project['id'] for project in projects}, statements

    def grant(self, role_id=None, **actor):
        PROVIDERS.assignment_api.create_grant(
            role_id or self.extra['id'], project_id=self.project_id, **actor
        )

    def remove(self, **actor):
        PROVIDERS.assignment_api.delete_grant(
            self.extra['id'], project_id=self.project_id, **actor
        )

    def join_group(self):
        """Give the user the extra role through a group."""
        PROVIDERS.identity_api.add_user_to_group(
            self.user_id, self.group['id']
        )
        self.grant(group_id=self.group['id'])
        self.assertIn(self.extra['id'], self.roles(self.user_id)[0])

    def without_returning(self):
        """Have the database not tell what it deletes, like MySQL."""
        with sql.session_for_read() as session:
            dialect = session.get_bind().dialect
        return fixtures.MockPatchObject(dialect, 'delete_returning', False)

    def assertDrops(self, change, *args, **kwargs):
        """Demand that a change is seen for one user, and touches no other."""
        self.roles(self.user_id)
        self.roles(self.other['id'])
        self.projects(self.other['id'])
        self.assertFalse(self.roles(self.other['id'])[1])

        change(*args, **kwargs)

        self.assertFalse(self.roles(self.other['id'])[1])
        self.assertFalse(self.projects(self.other['id'])[1])
        return self.roles(self.user_id)[0]
