# SPDX-License-Identifier: Apache-2.0

import datetime
import http.client

import freezegun
from oslo_utils import timeutils

from keystone.common import provider_api
from keystone import exception
from keystone.tests.unit.assignment import token_roles_base
from keystone.tests.unit.assignment import trusts

PROVIDERS = provider_api.ProviderAPIs


class TrustRolesTests(
    trusts.TrustMixin,
    token_roles_base.CachedTests,
    token_roles_base.TokenRolesTestCase,
):
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
