# SPDX-License-Identifier: Apache-2.0

"""Roles of system, trust and federated tokens, from the cache."""

import re

from keystone.common import provider_api
from keystone.tests import unit
from keystone.tests.unit.assignment import affected_base
from keystone.tests.unit.ksfixtures import shared_cache

PROVIDERS = provider_api.ProviderAPIs
_ASSIGNMENTS = re.compile(
    r'FROM "?(assignment|system_assignment|implied_role|trust)\b'
)


class TokenRolesTestCase(affected_base.AssignmentTestCase):
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

    def roles(self, token_id):
        """Validate a token.

        :returns: ids of its roles, and whether assignments were read
        """
        token, statements = self.read(
            PROVIDERS.token_provider_api.validate_token, token_id
        )
        was_read = any(map(_ASSIGNMENTS.search, statements))
        return {role['id'] for role in token.roles}, was_read

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
