# SPDX-License-Identifier: Apache-2.0

import datetime
import threading
import time
import types

import fixtures
from oslo_utils import fixture as oslo_fixture

from keystone.common.cache import request_local
from keystone.common import provider_api
from keystone import exception
from keystone.tests.unit.assignment import token_roles_base
from keystone.tests.unit.federation import signed_in

PROVIDERS = provider_api.ProviderAPIs


class FederatedRolesTests(
    signed_in.SignedInMixin, token_roles_base.TokenRolesTestCase
):
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

        self.remove()
        self.assertSeen(self.token, self.extra, False)

    def remove(self):
        PROVIDERS.assignment_api.delete_grant(
            self.extra,
            group_id=self.group_employees['id'],
            project_id=self.proj_employees['id'],
        )

    def test_grant_removed_during_a_request(self):
        """Roles read before the change are not stored as of after it."""
        self.grant(self.group_employees['id'], self.extra)
        self.assertIn(self.extra, self.roles(self.token)[0])
        request_local.begin({})
        # The request reads the id of all lists, and keeps it.
        PROVIDERS.assignment_api.list_role_assignments(role_id=self.extra)
        another = threading.Thread(target=self.remove)
        another.start()
        another.join(20)
        PROVIDERS.token_provider_api.validate_token(self.token)

        self.assertNotIn(self.extra, self.roles(self.token)[0])

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
