# SPDX-License-Identifier: Apache-2.0

"""A small cloud in which things happen at random."""

import os
import time
import uuid

from keystone.common import provider_api
from keystone import exception
from keystone.models import revoke_model
from keystone.tests import unit
from keystone.tests.unit.validation_cache import world_changes

PROVIDERS = provider_api.ProviderAPIs

_POLICIES: tuple[dict[str, str], ...] = (
    {},
    {'identity:validate_token': '!'},
    {'identity:validate_token': 'rule:admin_required'},
    {'identity:validate_token': 'user_id:%(target.token.user_id)s'},
    {'identity:check_token': 'rule:token_subject'},
    {'identity:check_token': 'role:extra', 'identity:validate_token': '@'},
)


class World(world_changes.Changes):
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
