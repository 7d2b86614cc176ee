# SPDX-License-Identifier: Apache-2.0

"""Roles of system, trust and federated tokens, from the cache."""

import datetime
import http.client
import re
import time
import types

import fixtures
import freezegun
from oslo_context import context as oslo_context
from oslo_utils import fixture as oslo_fixture
from oslo_utils import timeutils
import sqlalchemy
from sqlalchemy import event

from keystone.common import provider_api
from keystone.common import sql
from keystone import exception
from keystone.identity.backends import sql_model
from keystone.models import token_model
from keystone.tests import unit
from keystone.tests.unit.assignment import directory
from keystone.tests.unit.assignment import trusts
from keystone.tests.unit.federation import signed_in
from keystone.tests.unit.ksfixtures import shared_cache
from keystone.tests.unit import test_v3

PROVIDERS = provider_api.ProviderAPIs

_ASSIGNMENTS = re.compile(
    r'FROM "?(assignment|system_assignment|implied_role|trust)\b'
)

_MEMBERSHIPS = sql_model.ExpiringUserGroupMembership.__table__


class TokenRolesTestCase(test_v3.RestfulTestCase):
    """Validates tokens, and knows which of them read assignments."""

    def setUp(self):
        super().setUp()
        self.useFixture(shared_cache.SharedCache(self.config_fixture))
        self.other = unit.create_user(PROVIDERS.identity_api, self.domain_id)
        self.group = self.new_group()
        self.extra = self.new_role()

    def new_group(self):
        ref = unit.new_group_ref(domain_id=self.domain_id)
        return PROVIDERS.identity_api.create_group(ref)['id']

    def new_role(self):
        ref = unit.new_role_ref()
        return PROVIDERS.role_api.create_role(ref['id'], ref)['id']

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
            _MEMBERSHIPS.insert().values(
                user_id=user_id,
                group_id=group_id,
                idp_id='idp',
                last_verified=timeutils.utcnow(),
            )
        )

    def write(self, statement):
        with sql.session_for_write() as session:
            session.execute(statement)

    def roles(self, token_id):
        """Validate a token.

        :returns: ids of its roles, and whether assignments were read
        """
        oslo_context.RequestContext(overwrite=True)
        read = []

        def note(*args):
            read.extend(_ASSIGNMENTS.findall(args[2]))

        event.listen(sqlalchemy.Engine, 'before_cursor_execute', note)
        try:
            token = PROVIDERS.token_provider_api.validate_token(token_id)
            roles = {role['id'] for role in token.roles}
        finally:
            event.remove(sqlalchemy.Engine, 'before_cursor_execute', note)
        return roles, bool(read)

    def assertCached(self, token_id):
        roles, was_read = self.roles(token_id)
        self.assertFalse(was_read)
        return roles

    def assertSeen(self, token_id, role_id, is_there=True):
        """Demand that a change of the roles takes effect, and is cached."""
        found = role_id in self.roles(token_id)[0]
        self.assertEqual(is_there, found)
        self.assertCached(token_id)


class CachedTests:
    """Tests of a token that has the role of the test's user."""

    def test_cached(self):
        self.assertEqual({self.role_id}, self.assertCached(self.token))

    def test_implied_role(self):
        PROVIDERS.role_api.create_implied_role(self.role_id, self.extra)
        self.assertSeen(self.token, self.extra)

        PROVIDERS.role_api.delete_implied_role(self.role_id, self.extra)
        self.assertSeen(self.token, self.extra, False)

    def test_no_longer_than_tokens(self):
        self.config_fixture.config(group='token', cache_time=0)
        shared_cache.forget_records()
        for _ in range(2):
            self.assertTrue(self.roles(self.token)[1])


class SystemRolesTests(CachedTests, TokenRolesTestCase):
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


class ExpiringMembershipTests(TokenRolesTestCase):
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
        self.write(_MEMBERSHIPS.update().values(confirmed))
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


class OnceTests(TokenRolesTestCase):
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


class TrustRolesTests(trusts.TrustMixin, CachedTests, TokenRolesTestCase):
    def setUp(self):
        super().setUp()
        self.trust, self.token = self.new_trust()
        self.roles(self.token)

    def new_trust(self, **kwargs):
        return self.issue_for_trust(self.other, **kwargs)

    def test_deleted(self):
        self.delete(f'/OS-TRUST/trusts/{self.trust}')

        self.assertRaises(exception.NotFound, self.roles, self.token)

    def test_another_deleted(self):
        another, _token = self.new_trust()
        self.delete(f'/OS-TRUST/trusts/{another}')

        self.assertCached(self.token)

    def test_expiry(self):
        _trust, token = self.new_trust(expires={'minutes': 5})
        self.roles(token)
        self.assertCached(token)

        later = timeutils.utcnow() + datetime.timedelta(minutes=6)
        with freezegun.freeze_time(later):
            self.assertRaises(exception.NotFound, self.roles, token)

    def test_limited_uses(self):
        _trust, token = self.new_trust(remaining_uses=5)
        for _ in range(3):
            self.assertTrue(self.roles(token)[1])

    def test_authentication_reads_the_trust(self):
        """Another node may have deleted it."""
        PROVIDERS.trust_api.driver.delete_trust(self.trust)
        self.assertCached(self.token)

        self.v3_create_token(
            self.sign_in(self.other, self.trust),
            expected_status=http.client.UNAUTHORIZED,
        )


class FederatedRolesTests(signed_in.SignedInMixin, TokenRolesTestCase):
    def setUp(self):
        super().setUp()
        unscoped = self._issue_unscoped_token(assertion='EMPLOYEE_ASSERTION')
        request = self._scope_request(
            unscoped.id, 'project', self.proj_employees['id']
        )
        response = self.v3_create_token(request)
        self.token = response.headers['X-Subject-Token']
        self.roles(self.token)

    def grant(self, group_id, role_id):
        PROVIDERS.assignment_api.create_grant(
            role_id, group_id=group_id, project_id=self.proj_employees['id']
        )

    def test_cached(self):
        self.assertNotEqual(set(), self.assertCached(self.token))

    def test_grant_of_the_group(self):
        self.grant(self.group_employees['id'], self.extra)
        self.assertSeen(self.token, self.extra)

        PROVIDERS.assignment_api.delete_grant(
            self.extra,
            group_id=self.group_employees['id'],
            project_id=self.proj_employees['id'],
        )
        self.assertSeen(self.token, self.extra, False)

    def test_system_grant_of_the_group(self):
        PROVIDERS.assignment_api.create_system_grant_for_group(
            self.group_employees['id'], self.extra
        )
        self.assertSeen(self.token, self.extra)

    def test_group_deleted(self):
        PROVIDERS.identity_api.delete_group(self.group_employees['id'])

        self.assertRaises(exception.NotFound, self.roles, self.token)

    def test_membership_that_ends(self):
        """Stock caches the roles of the user itself on a project."""
        user = PROVIDERS.token_provider_api.validate_token(self.token).user_id
        self.config_fixture.config(group='token', cache_time=300)
        self.join(user, self.group_customers['id'])
        self.grant(self.group_customers['id'], self.extra)
        self.assertIn(self.extra, self.roles(self.token)[0])
        # Stock notices it when these roles have expired.
        self.at(400)
        self.assertIn(self.extra, self.roles(self.token)[0])
        self.at(620)
        self.assertNotIn(self.extra, self.roles(self.token)[0])

    def at(self, seconds):
        """Let it be later, for caches and for what expires."""
        now = time.time() + seconds
        clock = types.SimpleNamespace(time=lambda: now)
        for module in ('dogpile.cache.region', 'keystone.common.cache.proxy'):
            self.useFixture(fixtures.MonkeyPatch(f'{module}.time', clock))
        moment = datetime.datetime.fromtimestamp(now, datetime.timezone.utc)
        self.useFixture(oslo_fixture.TimeFixture(moment.replace(tzinfo=None)))

    def test_others(self):
        self.grant(self.group_customers['id'], self.extra)
        PROVIDERS.identity_api.add_user_to_group(
            self.other['id'], self.group_customers['id']
        )

        self.assertCached(self.token)
