# SPDX-License-Identifier: Apache-2.0

import http.client
import uuid

from keystone.common import provider_api
import keystone.exception
from keystone.identity.backends import resource_options
from keystone.tests import unit
from keystone.tests.unit.write_order import base

PROVIDERS = provider_api.ProviderAPIs

TWO_METHODS = {
    resource_options.MFA_RULES_OPT.option_name: [['password', 'totp']]
}


class UserTests(base.WriteOrderTestCase):
    """A user who was disabled cannot sign in."""

    def setUp(self):
        super().setUp()
        self.api = PROVIDERS.identity_api
        self.credential = unit.new_application_credential_ref(
            roles=[{'id': self.role_id}], secret=uuid.uuid4().hex
        )
        self.credential.update(
            user_id=self.user_id, project_id=self.project_id
        )
        self.secret = self.credential['secret']
        PROVIDERS.application_credential_api.create_application_credential(
            self.credential
        )
        self.sign_in(http.client.CREATED)

    def sign_in(self, expected_status):
        """Sign in with the application credential, as a request does."""
        request = self.build_authentication_request(
            app_cred_id=self.credential['id'], secret=self.secret
        )
        self.elsewhere(
            self.v3_create_token, request, expected_status=expected_status
        )

    def look_up(self):
        return self.api.get_user(self.user_id)

    def disable(self):
        self.api.update_user(self.user_id, {'enabled': False})

    def demand_two_methods(self):
        self.api.update_user(self.user_id, {'options': TWO_METHODS})

    def assertTwoMethods(self):
        user = self.elsewhere(self.look_up)
        self.assertEqual(TWO_METHODS, user['options'])

    def write_and_read_in_between(self, write):
        with self.read_before(self.api.driver, 'update_user', self.look_up):
            write()

    def test_disabled_and_reader_in_between(self):
        self.write_and_read_in_between(self.disable)

        self.sign_in(http.client.UNAUTHORIZED)

    def test_disabled_and_error_after_the_write(self):
        def write_then_fail(write, *args, **kwargs):
            self.elsewhere(self.look_up)
            write(*args, **kwargs)
            raise keystone.exception.UnexpectedError()

        with self.replaced(self.api.driver, 'update_user', write_then_fail):
            self.assertRaises(keystone.exception.UnexpectedError, self.disable)

        self.sign_in(http.client.UNAUTHORIZED)

    def test_two_methods_and_reader_in_between(self):
        self.write_and_read_in_between(self.demand_two_methods)

        self.assertTwoMethods()

    def test_enabled_again_and_reader_in_between(self):
        self.disable()
        self.elsewhere(self.look_up)

        self.write_and_read_in_between(
            lambda: self.api.update_user(self.user_id, {'enabled': True})
        )

        self.sign_in(http.client.CREATED)

    def test_other_name_and_reader_in_between(self):
        old_name = self.user['name']

        def look_up():
            return self.api.get_user_by_name(old_name, self.domain_id)

        with self.read_before(self.api.driver, 'update_user', look_up):
            self.api.update_user(self.user_id, {'name': 'other'})

        self.assertRaises(
            keystone.exception.UserNotFound, self.elsewhere, look_up
        )
