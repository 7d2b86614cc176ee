# SPDX-License-Identifier: Apache-2.0

import uuid

from keystone.common import provider_api
import keystone.exception
from keystone.tests import unit
from keystone.tests.unit.write_order import base

PROVIDERS = provider_api.ProviderAPIs


class TrustTests(base.WriteOrderTestCase):
    """The token of a deleted trust is not accepted any more."""

    def setUp(self):
        super().setUp()
        self.api = PROVIDERS.trust_api
        self.trustee = unit.create_user(
            PROVIDERS.identity_api, self.domain['id']
        )
        trust = {
            'trustor_user_id': self.user_id,
            'trustee_user_id': self.trustee['id'],
            'project_id': self.project_id,
            'impersonation': False,
        }
        self.trust_id = uuid.uuid4().hex
        self.api.create_trust(self.trust_id, trust, [{'id': self.role_id}])
        self.token = self.issue(
            user_id=self.trustee['id'],
            project_id=self.project_id,
            trust_id=self.trust_id,
        )
        self.assertAccepted(self.token)

    def assertEnded(self):
        self.assertRefused(self.token, keystone.exception.NotFound)

    def test_deleted(self):
        with self.read_before(
            self.api.driver, 'delete_trust', self.validate, self.token
        ):
            self.api.delete_trust(self.trust_id)

        self.assertEnded()

    def test_deleted_by_its_id_in_upper_case(self):
        """Some databases find it."""

        def in_lower_case(function, trust_id, *args, **kwargs):
            return function(trust_id.lower(), *args, **kwargs)

        driver = self.api.driver
        with (
            self.replaced(driver, 'get_trust', in_lower_case),
            self.replaced(driver, 'delete_trust', in_lower_case),
        ):
            self.api.delete_trust(self.trust_id.upper())

        self.assertEnded()

    def test_trustee_deleted(self):
        PROVIDERS.identity_api.delete_user(self.trustee['id'])

        self.assertRefused(self.token, keystone.exception.TrustNotFound)

    def test_trustor_deleted(self):
        PROVIDERS.identity_api.delete_user(self.user_id)

        self.assertRefused(self.token, keystone.exception.TrustNotFound)

    def test_error_after_the_write(self):
        def write_then_fail(write, *args):
            self.elsewhere(self.validate, self.token)
            write(*args)
            raise keystone.exception.UnexpectedError()

        with self.replaced(self.api.driver, 'delete_trust', write_then_fail):
            self.assertRaises(
                keystone.exception.UnexpectedError,
                self.api.delete_trust,
                self.trust_id,
            )

        self.assertEnded()
