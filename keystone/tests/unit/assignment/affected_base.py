# SPDX-License-Identifier: Apache-2.0

from oslo_context import context as oslo_context
import sqlalchemy
from sqlalchemy import event

from keystone.common import provider_api
from keystone.tests import unit
from keystone.tests.unit import test_v3

PROVIDERS = provider_api.ProviderAPIs


class AffectedTestCase(test_v3.RestfulTestCase):
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
        """The roles of a user on the project, and whether they were read."""
        roles, was_read = self.read(
            PROVIDERS.assignment_api.get_roles_for_user_and_project,
            user_id,
            self.project_id,
        )
        return set(roles), was_read

    def projects(self, user_id):
        """The projects of a user, and whether they were read."""
        projects, was_read = self.read(
            PROVIDERS.assignment_api.list_projects_for_user, user_id
        )
        return {project['id'] for project in projects}, was_read

    def read(self, function, *args, **kwargs):
        oslo_context.RequestContext(overwrite=True)
        statements = []

        def note(*args):
            statements.append(args[2])

        event.listen(sqlalchemy.Engine, 'before_cursor_execute', note)
        try:
            found = function(*args, **kwargs)
        finally:
            event.remove(sqlalchemy.Engine, 'before_cursor_execute', note)
        return found, bool(statements)

    def grant(self, role_id=None, **actor):
        PROVIDERS.assignment_api.create_grant(
            role_id or self.extra['id'], project_id=self.project_id, **actor
        )

    def remove(self, **actor):
        PROVIDERS.assignment_api.delete_grant(
            self.extra['id'], project_id=self.project_id, **actor
        )

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
