# SPDX-License-Identifier: Apache-2.0

"""Roles of system, trust and federated tokens, from the cache."""

import re

from oslo_context import context as oslo_context
from oslo_utils import timeutils
import sqlalchemy
from sqlalchemy import event

from keystone.common import provider_api
from keystone.common import sql
from keystone.identity.backends import sql_model
from keystone.tests import unit
from keystone.tests.unit.ksfixtures import shared_cache
from keystone.tests.unit import test_v3

PROVIDERS = provider_api.ProviderAPIs
_ASSIGNMENTS = re.compile(
    r'FROM "?(assignment|system_assignment|implied_role|trust)\b'
)
MEMBERSHIPS = sql_model.ExpiringUserGroupMembership.__table__


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
