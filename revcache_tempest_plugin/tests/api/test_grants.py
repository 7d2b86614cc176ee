# SPDX-License-Identifier: Apache-2.0

"""Tokens whose roles or whose trust is taken away."""

import datetime

from oslo_serialization import jsonutils
from tempest.lib import decorators

from revcache_tempest_plugin.tests.api import base


class GrantRemovalTest(base.PromiseTestCase):
    promise = 'grant_removal'

    def member_by_group(self):
        """A user with a role on a project by a group, and a valid token.

        :returns: the ids of the project, the role and the group; the user;
            the token
        """
        place, user, role = self.project(), self.user(), self.role()
        group = self.group(user)
        self.roles.create_group_role_on_project(place, group, role)
        token = self.log_in(user, "a member's token", project_id=place)
        self.assert_valid(token)
        return place, role, group, user, token

    @decorators.idempotent_id('6e5d0c1b-f283-4c97-b0e4-1b7a9d8f41bf')
    def test_last_role_on_a_project(self):
        left, kept = self.project(), self.project()
        person = self.member(left, kept)
        doomed = self.log_in(
            person, 'a token for the project', project_id=left
        )
        others = [
            self.log_in(
                person, 'a token for another project', project_id=kept
            ),
            self.log_in(
                self.member(left), "another user's token", project_id=left
            ),
        ]
        self.assert_valid(doomed, *others)
        self.roles.delete_role_from_user_on_project(
            left, person['user_id'], person['role_id']
        )
        self.assert_refused(doomed)
        self.assert_valid(*others)
        self.roles.create_user_role_on_project(
            left, person['user_id'], person['role_id']
        )
        self.assert_valid(
            self.log_in(person, 'a token issued later', project_id=left)
        )

    @decorators.idempotent_id('d37e80f4-a61b-4c95-8b2d-9e05c1f7a463')
    def test_one_of_two_roles(self):
        person = self.member(place := self.project())
        gone = self.role()
        self.roles.create_user_role_on_project(place, person['user_id'], gone)
        token = self.log_in(person, 'a token', project_id=place)
        self.assert_valid(token)
        self.roles.delete_role_from_user_on_project(
            place, person['user_id'], gone
        )
        self.assert_not_shown(gone, token)

    @decorators.idempotent_id('0b5c92e7-f8d3-4a60-b74e-c12a6f9d8e35')
    def test_last_role_on_a_domain(self):
        domain, user, role = self.domain(), self.user(), self.role()
        self.roles.create_user_role_on_domain(domain, user['user_id'], role)
        doomed = self.log_in(user, 'a token for a domain', domain_id=domain)
        self.assert_valid(doomed)
        self.roles.delete_role_from_user_on_domain(
            domain, user['user_id'], role
        )
        self.assert_refused(doomed)

    @decorators.idempotent_id('f2a6d7c8-31e9-4b04-9d5f-607be8c4a19d')
    def test_last_role_on_the_system(self):
        user, role = self.user(), self.role()
        self.roles.create_user_role_on_system(user['user_id'], role)
        doomed = self.log_in(user, 'a token for the system', system='all')
        self.assert_valid(doomed)
        self.roles.delete_role_from_user_on_system(user['user_id'], role)
        self.assert_refused(doomed)

    @decorators.idempotent_id('8e41b0d9-c57f-4263-a8f1-4d90e7b3c62a')
    def test_last_role_of_a_group(self):
        place, role, group, _, doomed = self.member_by_group()
        self.roles.delete_role_from_group_on_project(place, group, role)
        self.assert_refused(doomed)

    @decorators.idempotent_id('5a7d3e1c-9b86-4f20-84ce-e3f05d2a7b91')
    def test_member_who_leaves_a_group(self):
        _, _, group, user, doomed = self.member_by_group()
        self.groups.delete_group_user(group, user['user_id'])
        self.assert_refused(doomed)

    @decorators.idempotent_id('3d18c6e0-a9f5-47b2-8c04-1b6ef7d2a950')
    def test_deleted_group(self):
        _, _, group, _, doomed = self.member_by_group()
        self.groups.delete_group(group)
        self.assert_refused(doomed)

    @decorators.idempotent_id('7be902d4-51c3-4f68-b7a1-e84d0f9c6a23')
    def test_last_inherited_role(self):
        domain, user, role = self.domain(), self.user(), self.role()
        place = self.project(domain_id=domain)
        inherited = self.os_admin.inherited_roles_client
        inherited.create_inherited_role_on_domains_user(
            domain, user['user_id'], role
        )
        doomed = self.log_in(user, 'a token for a project', project_id=place)
        self.assert_valid(doomed)
        inherited.delete_inherited_role_from_user_on_domain(
            domain, user['user_id'], role
        )
        self.assert_refused(doomed)

    @decorators.idempotent_id('c90f4a2b-6e18-4d73-95b0-a7d2e8f1c536')
    def test_deleted_role(self):
        person = self.member(place := self.project())
        doomed = self.log_in(person, 'a token', project_id=place)
        self.assert_valid(doomed)
        self.roles.delete_role(person['role_id'])
        self.assert_refused(doomed)

    def assert_not_shown(self, role, token):
        """Fail unless a token is valid, and without a role."""
        self.assert_settled(
            (
                'the role that was taken away was shown',
                lambda: role
                in {shown['id'] for shown in self.shown(token)['roles']},
            )
        )
        self.assert_valid(token)

    def group(self, user):
        """Create a group with one member and return its id."""
        group = self.groups.create_group(name=self.name())['group']['id']
        self.undo(self.groups.delete_group, group)
        self.groups.add_group_user(group, user['user_id'])
        return group


class TrustRemovalTest(base.PromiseTestCase):
    promise = 'trust_removal'

    @decorators.idempotent_id('a07f8e52-6d94-4f0d-a6c3-c25e1f9b72d0')
    def test_deleted_trust(self):
        place = self.project()
        trustor, trustee = self.member(place), self.user()
        own = self.log_in(trustor, "the trustor's own token", project_id=place)
        trusts = [self.trust(own, trustor, trustee, hours) for hours in (1, 2)]
        doomed, other = (
            self.log_in_through(trust, trustee, name)
            for trust, name in zip(
                trusts,
                ('a token of the trust', 'a token of another trust'),
                strict=True,
            )
        )
        self.assert_valid(doomed, other)
        status, _body = self.call(
            'DELETE', f'/OS-TRUST/trusts/{trusts[0]}', own
        )
        self.assertEqual(204, status)
        self.assert_refused(doomed)
        self.assert_valid(other, own)

    def trust(self, own, trustor, trustee, hours):
        """Create a trust; it goes with its trustor."""
        expiry = datetime.datetime.now(datetime.UTC)
        expiry += datetime.timedelta(hours=hours)
        status, body = self.call(
            'POST',
            '/OS-TRUST/trusts',
            own,
            body={
                'trust': {
                    'trustor_user_id': trustor['user_id'],
                    'trustee_user_id': trustee['user_id'],
                    'project_id': own.body['project']['id'],
                    'impersonation': False,
                    'roles': [{'id': trustor['role_id']}],
                    'expires_at': expiry.strftime('%Y-%m-%dT%H:%M:%S.000000Z'),
                }
            },
        )
        self.assertEqual(201, status, body)
        return body['trust']['id']

    def log_in_through(self, trust, trustee, name):
        """Get a trustee's token for what a trust gives."""
        identity = {
            'methods': ['password'],
            'password': {
                'user': {
                    'id': trustee['user_id'],
                    'password': trustee['password'],
                }
            },
        }
        response, body = self.tokens.post(
            self.tokens.auth_url,
            jsonutils.dumps(
                {
                    'auth': {
                        'identity': identity,
                        'scope': {'OS-TRUST:trust': {'id': trust}},
                    }
                }
            ),
        )
        return base.Token(response['x-subject-token'], body['token'], name)
