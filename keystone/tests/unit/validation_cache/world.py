# SPDX-License-Identifier: Apache-2.0

"""A small cloud in which things happen at random."""

import http.client
import os
import time
import uuid

from keystone.common import provider_api
from keystone import exception
from keystone.models import revoke_model
from keystone.tests import unit

PROVIDERS = provider_api.ProviderAPIs

_POLICIES = (
    {},
    {'identity:validate_token': '!'},
    {'identity:validate_token': 'rule:admin_required'},
    {'identity:validate_token': 'user_id:%(target.token.user_id)s'},
    {'identity:check_token': 'rule:token_subject'},
    {'identity:check_token': 'role:extra', 'identity:validate_token': '@'},
)


class World:
    """Users, projects, roles, a catalog and tokens, and what happens to them.

    Each method named ``do_…`` lets one thing happen. Things that the cloud
    refuses do not happen.

    :param case: a
        :class:`~keystone.tests.unit.validation_cache.base.ValidationCacheTestCase`
    :param dice: a :class:`random.Random`
    :param policy_path: path of the policy file
    """

    def __init__(self, case, dice, policy_path):
        self.case = case
        self.dice = dice
        self.policy_path = policy_path
        self.policy_time = time.time()
        self.tokens = []
        self.users, self.groups, self.roles = [], [], []
        self.projects, self.domains, self.endpoints = [], [], []
        self.services, self.credentials, self.trusts = [], [], []
        for _ in range(2):
            self.add_domain()
        for _ in range(3):
            self.add_role()
            self.add_project()
            self.add_user()
        self.add_group()
        for _ in range(2):
            self.do_endpoint_created()
        for _ in range(12):
            self.do_granted()
        for _ in range(6):
            self.do_token_issued()

    def any(self, things):
        return self.dice.choice(things)

    def happen(self):
        """Let one thing happen; its name."""
        names = [name for name in dir(self) if name.startswith('do_')]
        weights = [_WEIGHTS.get(name, 1) for name in names]
        (name,) = self.dice.choices(names, weights)
        self.case.on_a_fresh_context(self._try, getattr(self, name))
        return name

    def _try(self, function):
        try:
            function()
        except exception.Error:
            # Refused: gone, disabled, or there already.
            pass

    def forget_token(self, token):
        """Let go of a token, and issue another one."""
        self.tokens.remove(token)
        self.case.on_a_fresh_context(self.do_token_issued)
        if not self.tokens:
            self.tokens.append(token)

    # What the cloud is made of.

    def add_domain(self):
        ref = unit.new_domain_ref()
        PROVIDERS.resource_api.create_domain(ref['id'], ref)
        self.domains.append(ref['id'])

    def add_project(self):
        ref = unit.new_project_ref(domain_id=self.any(self.domains))
        PROVIDERS.resource_api.create_project(ref['id'], ref)
        self.projects.append(ref['id'])

    def add_role(self):
        ref = unit.new_role_ref()
        PROVIDERS.role_api.create_role(ref['id'], ref)
        self.roles.append(ref['id'])

    def add_user(self):
        user = unit.create_user(PROVIDERS.identity_api, self.any(self.domains))
        self.users.append([user['id'], user['password']])

    def add_group(self):
        ref = unit.new_group_ref(domain_id=self.any(self.domains))
        self.groups.append(PROVIDERS.identity_api.create_group(ref)['id'])

    # What happens.

    def do_token_issued(self):
        user, password = self.any(self.users)
        scope = self.dice.choice(
            (
                {},
                {'project_id': self.any(self.projects)},
                {'project_id': self.any(self.projects)},
                {'domain_id': self.any(self.domains)},
                {'system': True},
            )
        )
        self._issue(user_id=user, password=password, **scope)

    def do_token_rescoped(self):
        if self.tokens:
            self._issue(
                token=self.any(self.tokens), project_id=self.any(self.projects)
            )

    def _issue(self, **kwargs):
        body = self.case.build_authentication_request(**kwargs)
        answer = self.case.v3_create_token(body, expected_status='*')
        token = answer.headers.get('X-Subject-Token')
        if token:
            self.tokens.append(token)
            del self.tokens[:-4]

    def do_token_revoked(self):
        token = self.any(self.tokens)
        self.case.delete(
            '/auth/tokens' + self.dice.choice(('', '?cascade=false')),
            headers={'X-Subject-Token': token},
            token=token,
            expected_status='*',
        )

    def do_revoked(self):
        """Record an event of any kind."""
        values = self.dice.choice(
            (
                {'user_id': self.any(self.users)[0]},
                {'project_id': self.any(self.projects)},
                {'role_id': self.any(self.roles)},
                {'domain_id': self.any(self.domains)},
                {'audit_chain_id': uuid.uuid4().hex},
            )
        )
        PROVIDERS.revoke_api.revoke(revoke_model.RevokeEvent(**values))

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
        PROVIDERS.role_api.delete_role(role)
        self.roles.remove(role)
        self.add_role()

    def do_member_added(self):
        PROVIDERS.identity_api.add_user_to_group(
            self.any(self.users)[0], self.any(self.groups)
        )

    def do_member_removed(self):
        PROVIDERS.identity_api.remove_user_from_group(
            self.any(self.users)[0], self.any(self.groups)
        )

    def do_group_replaced(self):
        group = self.groups.pop()
        PROVIDERS.identity_api.delete_group(group)
        self.add_group()

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
        PROVIDERS.identity_api.delete_user(user[0])
        self.users.remove(user)
        self.add_user()

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
        PROVIDERS.resource_api.delete_project(project)
        self.projects.remove(project)
        self.add_project()

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

    def do_application_credential(self):
        user, _password = self.any(self.users)
        ref = {
            'id': uuid.uuid4().hex,
            'name': uuid.uuid4().hex,
            'secret': uuid.uuid4().hex,
            'user_id': user,
            'project_id': self.any(self.projects),
            'roles': [{'id': self.any(self.roles)}],
            'description': '',
            'expires_at': None,
            'unrestricted': self.dice.choice((True, False)),
        }
        if not self.dice.randrange(4):
            ref['access_rules'] = [
                {
                    'id': uuid.uuid4().hex,
                    'service': 'compute',
                    'path': '/' + uuid.uuid4().hex,
                    'method': 'GET',
                }
            ]
        made = (
            PROVIDERS.application_credential_api.create_application_credential
        )(ref)
        self.credentials.append(made['id'])
        self._issue(app_cred_id=made['id'], secret=ref['secret'])

    def do_application_credential_deleted(self):
        if self.credentials:
            (
                PROVIDERS.application_credential_api
            ).delete_application_credential(self.credentials.pop())

    def do_trust(self):
        trustor, trustee = self.dice.sample(self.users, 2)
        role_id, project_id = self.any(self.roles), self.any(self.projects)
        if self.dice.randrange(4):
            PROVIDERS.assignment_api.create_grant(
                role_id, user_id=trustor[0], project_id=project_id
            )
        ref = unit.new_trust_ref(
            trustor_user_id=trustor[0],
            trustee_user_id=trustee[0],
            project_id=project_id,
            impersonation=self.dice.choice((True, False)),
        )
        trust = PROVIDERS.trust_api.create_trust(
            ref.pop('id', uuid.uuid4().hex),
            {
                name: ref[name]
                for name in (
                    'trustor_user_id',
                    'trustee_user_id',
                    'project_id',
                    'impersonation',
                )
            },
            [{'id': role_id}],
        )
        self.trusts.append(trust['id'])
        self._issue(
            user_id=trustee[0], password=trustee[1], trust_id=trust['id']
        )

    def do_trust_deleted(self):
        if self.trusts:
            PROVIDERS.trust_api.delete_trust(self.trusts.pop())

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

    def do_service_provider(self):
        ref = {
            'auth_url': 'https://example.org/auth',
            'sp_url': 'https://example.org/sp',
            'enabled': self.dice.choice((True, False)),
            'description': '',
            'relay_state_prefix': 'ss:mem:',
        }
        try:
            PROVIDERS.federation_api.create_sp('one', ref)
        except exception.Conflict:
            if self.dice.randrange(2):
                PROVIDERS.federation_api.delete_sp('one')
            else:
                PROVIDERS.federation_api.update_sp('one', ref)

    def do_policy(self):
        self.policy_time += 5
        with open(self.policy_path, 'w') as stream:
            stream.write('"a": "@"\n')
            for name, rule in self.any(_POLICIES).items():
                stream.write(f'"{name}": "{rule}"\n')
        os.utime(self.policy_path, (self.policy_time, self.policy_time))


# Without users, projects and tokens there is little to see.
_WEIGHTS = {
    'do_token_issued': 12,
    'do_token_rescoped': 4,
    'do_application_credential': 3,
    'do_granted': 6,
    'do_user_enabled': 9,
    'do_project_enabled': 9,
    'do_domain_enabled': 9,
    'do_revoked': 0.5,
    'do_policy': 5,
    'do_token_revoked': 6,
}
