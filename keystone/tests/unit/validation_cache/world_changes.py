# SPDX-License-Identifier: Apache-2.0

import http.client
import uuid

from keystone.common import provider_api
from keystone.tests import unit

PROVIDERS = provider_api.ProviderAPIs


class Changes:
    """What is done to what a :class:`~.world.World` is made of."""

    def _grant_values(self):
        actor = self.dice.choice(
            (
                {'user_id': self.any(self.users)[0]},
                {'user_id': self.any(self.users)[0]},
                {'group_id': self.any(self.groups)},
            )
        )
        target = self.dice.choice(
            (
                {'project_id': self.any(self.projects)},
                {'project_id': self.any(self.projects)},
                {'domain_id': self.any(self.domains)},
                {
                    'domain_id': self.any(self.domains),
                    'inherited_to_projects': True,
                },
            )
        )
        return {**actor, **target}

    def do_granted(self):
        PROVIDERS.assignment_api.create_grant(
            self.any(self.roles), **self._grant_values()
        )

    def do_grant_deleted(self):
        PROVIDERS.assignment_api.delete_grant(
            self.any(self.roles), **self._grant_values()
        )

    def do_system_granted(self):
        PROVIDERS.assignment_api.create_system_grant_for_user(
            self.any(self.users)[0], self.any(self.roles)
        )

    def do_system_granted_to_group(self):
        PROVIDERS.assignment_api.create_system_grant_for_group(
            self.any(self.groups), self.any(self.roles)
        )

    def do_system_grant_deleted(self):
        PROVIDERS.assignment_api.delete_system_grant_for_user(
            self.any(self.users)[0], self.any(self.roles)
        )

    def do_system_grant_of_group_deleted(self):
        PROVIDERS.assignment_api.delete_system_grant_for_group(
            self.any(self.groups), self.any(self.roles)
        )

    def do_role_implied(self):
        roles = self.dice.sample(self.roles, 2)
        PROVIDERS.role_api.create_implied_role(*roles)

    def do_role_no_longer_implied(self):
        roles = self.dice.sample(self.roles, 2)
        PROVIDERS.role_api.delete_implied_role(*roles)

    def do_role_renamed(self):
        PROVIDERS.role_api.update_role(
            self.any(self.roles), {'name': uuid.uuid4().hex}
        )

    def do_role_replaced(self):
        role = self.any(self.roles)
        self.add_role()
        PROVIDERS.role_api.delete_role(role)
        self.roles.remove(role)

    def do_member_added(self):
        PROVIDERS.identity_api.add_user_to_group(
            self.any(self.users)[0], self.any(self.groups)
        )

    def do_member_removed(self):
        PROVIDERS.identity_api.remove_user_from_group(
            self.any(self.users)[0], self.any(self.groups)
        )

    def do_group_replaced(self):
        group = self.any(self.groups)
        self.add_group()
        PROVIDERS.identity_api.delete_group(group)
        self.groups.remove(group)

    def do_user_disabled(self):
        PROVIDERS.identity_api.update_user(
            self.any(self.users)[0], {'enabled': False}
        )

    def do_user_enabled(self):
        for user, _password in self.users:
            PROVIDERS.identity_api.update_user(user, {'enabled': True})

    def do_user_renamed(self):
        PROVIDERS.identity_api.update_user(
            self.any(self.users)[0], {'name': uuid.uuid4().hex}
        )

    def do_user_replaced(self):
        user = self.any(self.users)
        self.add_user()
        PROVIDERS.identity_api.delete_user(user[0])
        self.users.remove(user)

    def do_password_changed(self):
        user = self.any(self.users)
        password = uuid.uuid4().hex
        answer = self.case.post(
            f'/users/{user[0]}/password',
            body={
                'user': {'password': password, 'original_password': user[1]}
            },
            expected_status='*',
            noauth=True,
        )
        if answer.status_int == http.client.NO_CONTENT:
            user[1] = password

    def do_password_reset(self):
        user = self.any(self.users)
        password = uuid.uuid4().hex
        PROVIDERS.identity_api.update_user(user[0], {'password': password})
        user[1] = password

    def do_user_options(self):
        PROVIDERS.identity_api.update_user(
            self.any(self.users)[0],
            {
                'options': {
                    'ignore_password_expiry': self.dice.choice((True, False))
                }
            },
        )

    def do_project_disabled(self):
        PROVIDERS.resource_api.update_project(
            self.any(self.projects), {'enabled': False}
        )

    def do_project_enabled(self):
        for project in self.projects:
            PROVIDERS.resource_api.update_project(project, {'enabled': True})

    def do_project_renamed(self):
        PROVIDERS.resource_api.update_project(
            self.any(self.projects), {'name': uuid.uuid4().hex}
        )

    def do_project_created(self):
        self.add_project()
        del self.projects[:-4]

    def do_project_replaced(self):
        project = self.any(self.projects)
        # Refused in a disabled domain: the others would be used up.
        self.add_project()
        PROVIDERS.resource_api.delete_project(project)
        self.projects.remove(project)

    def do_domain_disabled(self):
        PROVIDERS.resource_api.update_domain(
            self.any(self.domains), {'enabled': False}
        )

    def do_domain_enabled(self):
        for domain in self.domains:
            PROVIDERS.resource_api.update_domain(domain, {'enabled': True})

    def do_domain_renamed(self):
        PROVIDERS.resource_api.update_domain(
            self.any(self.domains), {'name': uuid.uuid4().hex}
        )

    def do_endpoint_created(self):
        service = unit.new_service_ref()
        PROVIDERS.catalog_api.create_service(service['id'], service)
        endpoint = unit.new_endpoint_ref(
            service_id=service['id'],
            interface='public',
            region_id=None,
            url='http://example.org/$(project_id)s',
        )
        PROVIDERS.catalog_api.create_endpoint(endpoint['id'], endpoint)
        self.services.append(service['id'])
        self.endpoints.append(endpoint['id'])
        if len(self.services) > 4:
            PROVIDERS.catalog_api.delete_service(self.services.pop(0))
            self.endpoints.pop(0)

    def do_endpoint_moved(self):
        PROVIDERS.catalog_api.update_endpoint(
            self.any(self.endpoints),
            {'url': f'http://example.org/{uuid.uuid4().hex}'},
        )

    def do_service_renamed(self):
        PROVIDERS.catalog_api.update_service(
            self.any(self.services), {'name': uuid.uuid4().hex}
        )

    def do_endpoint_of_a_project(self):
        change = self.dice.choice(
            (
                PROVIDERS.catalog_api.add_endpoint_to_project,
                PROVIDERS.catalog_api.remove_endpoint_from_project,
            )
        )
        change(self.any(self.endpoints), self.any(self.projects))
