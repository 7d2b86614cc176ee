# SPDX-License-Identifier: Apache-2.0

"""Tokens of the system, trusts and federated users have records as well."""

import http.client

from keystone.common import cache
from keystone.common.cache import regions
from keystone.common import provider_api
from keystone.tests import unit
from keystone.tests.unit.federation import signed_in
from keystone.tests.unit.validation_cache import base

PROVIDERS = provider_api.ProviderAPIs


class ScopeTestCase(base.ValidationCacheTestCase):
    def setUp(self):
        super().setUp()
        ref = unit.new_role_ref()
        self.extra = PROVIDERS.role_api.create_role(ref['id'], ref)['id']
        self.other = unit.create_user(PROVIDERS.identity_api, self.domain_id)

    def validate(self, subject):
        """Validate a subject, so that it has a record."""
        self.subject = subject
        self.ask(subject)
        self.assertHit(subject)

    def assertChanges(self, status=http.client.OK):
        """Demand that a change of the subject is noticed."""
        self.assertNoHit(self.subject, status=status)
        if status == http.client.OK:
            self.assertHit(self.subject)

    def assertNoChange(self):
        self.assertHit(self.subject)

    def assertAsPast(self):
        """Demand that the cache makes no difference after a change.

        Whether the subject is still valid depends on other topics.
        """
        answer = self.ask(self.subject)
        self.assertSame(self.ask_past(self.subject), answer)


class SystemScopeTests(ScopeTestCase):
    def setUp(self):
        super().setUp()
        self.validate(self.get_system_scoped_token())

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
        self.trust, token = self.issue_for_trust(self.other)
        self.validate(token)

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


class FederatedTests(signed_in.SignedInMixin, ScopeTestCase):
    """The roles come from the group of the employees."""

    def setUp(self):
        super().setUp()
        self.validate(self.issue())

    def issue(self):
        unscoped = self._issue_unscoped_token(assertion='EMPLOYEE_ASSERTION')
        response = self.v3_create_token(
            self._scope_request(
                unscoped.id, 'project', self.proj_employees['id']
            )
        )
        return response.headers['X-Subject-Token']

    def grant(self, group, role_id=None):
        PROVIDERS.assignment_api.create_grant(
            role_id or self.extra,
            group_id=group['id'],
            project_id=self.proj_employees['id'],
        )

    def delete_as_stock_does(self):
        PROVIDERS.federation_api.driver.delete_idp(self.IDP)
        regions.ids_of(cache.CACHE_INVALIDATION_REGION).write('tokens')

    def test_caller(self):
        self.grant(self.group_employees, self.role_id)
        self.ask(caller=self.subject)
        self.assertHit(caller=self.subject)

    def test_unscoped(self):
        self.validate(self._issue_unscoped_token().id)

    def test_grant_of_the_group(self):
        self.grant(self.group_employees)
        self.assertChanges()

    def test_grant_of_another_group(self):
        self.grant(self.group_customers)
        self.assertNoChange()

    def test_token_revoked(self):
        PROVIDERS.token_provider_api.revoke_token(self.issue())
        self.assertNoChange()

    def test_user_disabled(self):
        user = PROVIDERS.token_provider_api.validate_token(self.subject).user
        PROVIDERS.identity_api.update_user(user['id'], {'enabled': False})

        self.assertChanges(http.client.NOT_FOUND)

    def test_provider_renamed(self):
        PROVIDERS.federation_api.update_idp(self.IDP, {'description': 'new'})
        self.assertAsPast()
        self.assertNoChange()

    def test_provider_disabled(self):
        PROVIDERS.federation_api.update_idp(self.IDP, {'enabled': False})
        self.assertAsPast()

    def test_provider_deleted(self):
        PROVIDERS.federation_api.delete_idp(self.IDP)
        self.assertChanges(http.client.NOT_FOUND)

    def test_provider_deleted_by_a_stock_node(self):
        self.delete_as_stock_does()
        self.assertChanges(http.client.NOT_FOUND)

    def test_new_token_after_deletion_by_a_stock_node(self):
        body = self._scope_request(
            self.subject, 'project', self.proj_employees['id']
        )
        self.delete_as_stock_does()
        self.v3_create_token(body, expected_status=http.client.NOT_FOUND)

    def test_protocol_deleted(self):
        PROVIDERS.federation_api.delete_protocol(self.IDP, self.PROTOCOL)
        self.assertAsPast()
