# SPDX-License-Identifier: Apache-2.0

import uuid

from keystone.common import provider_api
from keystone import exception
from keystone.tests import unit
from keystone.tests.unit.assignment import affected_base

PROVIDERS = provider_api.ProviderAPIs


class ProjectTests(affected_base.AffectedTestCase):
    """What projects come and go with."""

    def new_project(self, **kwargs):
        ref = unit.new_project_ref(domain_id=self.domain_id, **kwargs)
        return PROVIDERS.resource_api.create_project(ref['id'], ref)['id']

    def new_project_with_role(self):
        project_id = self.new_project()
        PROVIDERS.assignment_api.create_grant(
            self.role_id, user_id=self.user_id, project_id=project_id
        )
        return project_id

    def grant_on_domain(self, inherited_to_projects=True):
        PROVIDERS.assignment_api.create_grant(
            self.extra['id'],
            user_id=self.user_id,
            domain_id=self.domain_id,
            inherited_to_projects=inherited_to_projects,
        )

    def test_project_changed(self):
        """Lists show it as it is."""

        def shown():
            projects, _statements = self.read(
                PROVIDERS.assignment_api.list_projects_for_user, self.user_id
            )
            return {one['id']: one for one in projects}[self.project_id]

        for change in (
            {'name': uuid.uuid4().hex},
            {'enabled': False},
            {'enabled': True},
            {'tags': ['tag']},
        ):
            shown()
            self.roles(self.user_id)
            PROVIDERS.resource_api.update_project(self.project_id, change)
            for name, value in change.items():
                self.assertEqual(value, shown()[name])
            PROVIDERS.resource_api.get_project(self.project_id)
            self.assertFalse(self.roles(self.user_id)[1])

    def test_domain_changed(self):
        self.grant_on_domain(inherited_to_projects=False)
        for is_enabled in (False, True):
            self.domains()
            PROVIDERS.resource_api.update_domain(
                self.domain_id, {'enabled': is_enabled}
            )
            self.assertEqual(
                [is_enabled], [one['enabled'] for one in self.domains()]
            )

    def domains(self):
        found, _statements = self.read(
            PROVIDERS.assignment_api.list_domains_for_user, self.user_id
        )
        return found

    def listed(self, **arguments):
        """The projects on which a user has roles."""
        found, _statements = self.read(
            PROVIDERS.assignment_api.list_role_assignments,
            user_id=self.user_id,
            **arguments,
        )
        return {one.get('project_id') for one in found}

    def test_created_and_deleted(self):
        self.roles(self.user_id)
        PROVIDERS.resource_api.delete_project(self.new_project())
        self.assertFalse(self.roles(self.user_id)[1])

    def test_roles_on_a_deleted_project(self):
        project_id = self.new_project_with_role()
        api = PROVIDERS.assignment_api
        roles = [
            (get_roles, self.user_id, project_id)
            for get_roles in (
                api.get_roles_for_user_and_project,
                api.get_roles_for_trustor_and_project,
            )
        ]
        for call in roles:
            self.assertIn(self.role_id, self.read(*call)[0])

        PROVIDERS.resource_api.delete_project(project_id)

        for call in roles:
            self.assertRaises(exception.ProjectNotFound, self.read, *call)

    def test_list_of_a_deleted_project(self):
        project_id = self.new_project_with_role()
        effective = {'project_id': project_id, 'effective': True}
        for arguments in ({'project_id': project_id}, effective):
            self.assertEqual({project_id}, self.listed(**arguments))
        # Not a scope that exists: it is ignored.
        self.assertIn(project_id, self.listed(system='other'))

        PROVIDERS.resource_api.delete_project(project_id)

        self.assertEqual(set(), self.listed(project_id=project_id))
        self.assertRaises(exception.ProjectNotFound, self.listed, **effective)
        self.assertNotIn(project_id, self.listed(system='other'))

    def test_effective_system_roles(self):
        """The scope is ignored."""
        self.grant_on_domain()
        before = self.listed(effective=True, system='all')
        self.assertIn(self.project_id, before)

        project_id = self.new_project()

        self.assertEqual(
            before | {project_id}, self.listed(effective=True, system='all')
        )

    def test_inherited_on_a_new_project(self):
        self.grant_on_domain()
        subtree = {
            'project_id': self.project_id,
            'include_subtree': True,
            'effective': True,
        }
        self.assertEqual({self.project_id}, self.listed(**subtree))
        # They are cached from here on.
        self.projects(self.user_id)

        project_id = self.new_project(parent_id=self.project_id)

        self.assertIn(project_id, self.projects(self.user_id)[0])
        self.assertEqual({self.project_id, project_id}, self.listed(**subtree))

    def test_projects_of_the_user(self):
        project_id = self.new_project()
        self.assertNotIn(project_id, self.projects(self.user_id)[0])
        PROVIDERS.assignment_api.create_grant(
            self.role_id, user_id=self.user_id, project_id=project_id
        )

        self.assertIn(project_id, self.projects(self.user_id)[0])
