# SPDX-License-Identifier: Apache-2.0

"""Tokens of the system and of trusts have records as well."""

import http.client

from keystone.common import provider_api
from keystone.tests import unit
from keystone.tests.unit.validation_cache import base

PROVIDERS = provider_api.ProviderAPIs


class ScopeTestCase(base.ValidationCacheTestCase):
    def setUp(self):
        super().setUp()
        ref = unit.new_role_ref()
        self.extra = PROVIDERS.role_api.create_role(ref['id'], ref)['id']
        self.other = unit.create_user(PROVIDERS.identity_api, self.domain_id)

    def assertChanges(self, status=http.client.OK):
        """Demand that a change of the subject is noticed."""
        self.assertNoHit(self.subject, status=status)
        if status == http.client.OK:
            self.assertHit(self.subject)

    def assertNoChange(self):
        self.assertHit(self.subject)


class SystemScopeTests(ScopeTestCase):
    def setUp(self):
        super().setUp()
        self.subject = self.get_system_scoped_token()
        self.ask(self.subject)
        self.assertHit(self.subject)

    def test_caller(self):
        self.ask(caller=self.subject)
        self.assertHit(caller=self.subject)

    def test_grant(self):
        PROVIDERS.assignment_api.create_system_grant_for_user(
            self.user_id, self.extra
        )
        self.assertChanges()

        PROVIDERS.assignment_api.delete_system_grant_for_user(
            self.user_id, self.extra
        )
        self.assertChanges()

    def test_last_grant(self):
        PROVIDERS.assignment_api.delete_system_grant_for_user(
            self.user_id, self.role_id
        )

        self.assertChanges(http.client.NOT_FOUND)

    def test_role_renamed(self):
        PROVIDERS.role_api.update_role(
            self.role_id, {'id': self.role_id, 'name': 'renamed'}
        )

        self.assertChanges()

    def test_implied_role(self):
        PROVIDERS.role_api.create_implied_role(self.role_id, self.extra)

        self.assertChanges()

    def test_grant_of_another_user(self):
        PROVIDERS.assignment_api.create_system_grant_for_user(
            self.other['id'], self.role_id
        )

        self.assertNoChange()


class TrustTests(ScopeTestCase):
    def setUp(self):
        super().setUp()
        self.trust, self.subject = self.issue_for_trust(self.other)
        self.ask(self.subject)
        self.assertHit(self.subject)

    def test_caller(self):
        self.ask(caller=self.subject)
        self.assertHit(caller=self.subject)

    def test_deleted(self):
        self.delete(f'/OS-TRUST/trusts/{self.trust}')

        self.assertChanges(http.client.NOT_FOUND)

    def test_role_of_the_trustor_removed(self):
        PROVIDERS.assignment_api.delete_grant(
            self.role_id, user_id=self.user_id, project_id=self.project_id
        )

        answer = self.ask(self.subject, caller=self.get_system_scoped_token())
        self.assertNotEqual('200 OK', answer[0])

    def test_trustee_disabled(self):
        PROVIDERS.identity_api.update_user(
            self.other['id'], {'enabled': False}
        )

        self.assertChanges(http.client.NOT_FOUND)

    def test_trustor_disabled(self):
        trustor = self.user_id
        system = self.get_system_scoped_token()
        PROVIDERS.assignment_api.create_system_grant_for_user(
            self.other['id'], self.role_id
        )
        PROVIDERS.identity_api.update_user(trustor, {'enabled': False})

        for caller in (system, self.subject):
            answer = self.ask(self.subject, caller=caller)
            self.assertNotEqual('200 OK', answer[0])
            self.assertSame(self.ask_past(self.subject, caller), answer)

    def test_implied_role(self):
        PROVIDERS.role_api.create_implied_role(self.role_id, self.extra)

        self.assertNoHit(self.subject)

    def test_another_deleted(self):
        another = self.issue_for_trust(self.other)[0]
        self.delete(f'/OS-TRUST/trusts/{another}')

        self.assertNoChange()

    def test_expiry(self):
        _trust, self.subject = self.issue_for_trust(
            self.other, expires={'minutes': 3}
        )
        self.ask(self.subject)
        self.at(seconds=120)
        self.assertNoChange()

        self.at(seconds=181)
        self.assertChanges(http.client.NOT_FOUND)

    def test_deleted_behind_the_back(self):
        """It is accepted as long as stock caches the token."""
        self.config_fixture.config(group='token', cache_time=100)
        trust, self.subject = self.issue_for_trust(self.other)
        self.ask(self.subject)
        PROVIDERS.trust_api.driver.delete_trust(trust)
        self.at(seconds=60)
        self.assertNoChange()

        self.at(seconds=101)
        self.assertChanges(http.client.NOT_FOUND)
