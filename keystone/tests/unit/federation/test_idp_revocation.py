# SPDX-License-Identifier: Apache-2.0

import contextlib
import http.client

from oslo_db import exception as db_exception

from keystone.common import cache
from keystone.common import provider_api
import keystone.exception
from keystone.tests.unit.federation import signed_in
from keystone.tests.unit.write_order import base

PROVIDERS = provider_api.ProviderAPIs

NOT_FOUND = http.client.NOT_FOUND


class EndOfTrustTests(signed_in.SignedInMixin, base.WriteOrderTestCase):
    """Tokens end with the trust in who has vouched for the user."""

    def setUp(self):
        super().setUp()
        self.api = PROVIDERS.federation_api
        self.idp_id = self.idp['id']
        self.protocol_id = self.proto_saml['id']
        self.unscoped_id = self.sign_in()
        self.token_id = self.scope(self.unscoped_id)
        self.federated_id = self.validate()
        self.validate()

    def sign_in(self):
        return self._issue_unscoped_token(assertion='ADMIN_ASSERTION').id

    def scope(self, unscoped_id, **kwargs):
        response = self.elsewhere(
            self.v3_create_token,
            self._scope_request(
                unscoped_id, 'project', self.proj_employees['id']
            ),
            **kwargs,
        )
        return response.headers.get('X-Subject-Token')

    def validate(self):
        """Validate the token; its user's id."""
        api = PROVIDERS.token_provider_api
        return self.elsewhere(api.validate_token, self.token_id).user_id

    def assertRefused(self):
        self.assertRaises(keystone.exception.NotFound, self.validate)
        self.elsewhere(
            self.head,
            '/auth/tokens',
            headers={'X-Subject-Token': self.token_id},
            expected_status=NOT_FOUND,
        )

    def set_enabled(self, enabled):
        self.patch(
            f'/OS-FEDERATION/identity_providers/{self.idp_id}',
            body={'identity_provider': {'enabled': enabled}},
        )

    def disable(self):
        self.set_enabled(False)

    def delete_protocol(self):
        self.delete(
            f'/OS-FEDERATION/identity_providers/{self.idp_id}'
            f'/protocols/{self.protocol_id}'
        )

    def delete_identity_provider(self):
        self.delete(f'/OS-FEDERATION/identity_providers/{self.idp_id}')

    def look_up(self):
        """The user, or None."""
        try:
            return self.elsewhere(
                PROVIDERS.identity_api.get_user, self.federated_id
            )
        except keystone.exception.UserNotFound:
            return None

    def assertUserAsStored(self):
        """What is cached of the user, if there still is one, is as stored.

        Whether a user who came from there only is deleted as well depends on
        the driver.
        """
        cached = self.look_up()
        cache.CACHE_REGION.invalidate()
        self.assertEqual(self.look_up(), cached)

    def come_from_elsewhere(self):
        """Have another identity provider know the user, who stays then."""
        PROVIDERS.shadow_users_api.create_federated_object(
            {
                'user_id': self.federated_id,
                'idp_id': self.idp_with_remote['id'],
                'protocol_id': self.protocol_id,
                'unique_id': 'other',
                'display_name': 'other',
            }
        )

    def assertUserStays(self):
        self.elsewhere(PROVIDERS.identity_api.get_user, self.federated_id)

    def test_disabled(self):
        self.disable()

        self.assertRefused()

    def test_disabled_and_reader_in_between(self):
        with self.read_before(self.api.driver, 'update_idp', self.validate):
            self.disable()

        self.assertRefused()

    def test_disabled_while_a_token_is_issued(self):
        def issue_then_disable(issue, *args, **kwargs):
            answer = issue(*args, **kwargs)
            self.elsewhere(
                self.api.update_idp, self.idp_id, {'enabled': False}
            )
            return answer

        provider = PROVIDERS.token_provider_api.driver
        with self.replaced(
            provider, 'generate_id_and_issued_at', issue_then_disable
        ):
            self.token_id = self.scope(self.unscoped_id)

        self.assertRefused()

    def test_disabled_and_error_after_the_write(self):
        def write_then_fail(write, *args, **kwargs):
            write(*args, **kwargs)
            raise RuntimeError

        with self.replaced(self.api.driver, 'update_idp', write_then_fail):
            self.assertRaises(
                RuntimeError,
                self.api.update_idp,
                self.idp_id,
                {'enabled': False},
            )

        self.assertRefused()

    def test_disabled_and_the_caller(self):
        self.disable()

        self.elsewhere(
            self.get,
            '/auth/projects',
            token=self.token_id,
            expected_status=http.client.UNAUTHORIZED,
        )

    def test_disabled_and_another_token_asked_for(self):
        self.disable()

        self.scope(self.unscoped_id, expected_status=http.client.FORBIDDEN)

    def test_enabled_again(self):
        self.disable()
        self.set_enabled(True)

        self.validate()

    def test_changed_otherwise(self):
        self.patch(
            f'/OS-FEDERATION/identity_providers/{self.idp_id}',
            body={'identity_provider': {'description': 'other'}},
        )

        self.validate()

    def test_another_one_disabled(self):
        self.api.update_idp(self.idp_with_remote['id'], {'enabled': False})

        self.validate()

    def test_identity_provider_deleted(self):
        with self.read_before(self.api.driver, 'delete_idp', self.validate):
            self.delete_identity_provider()

        self.assertRefused()
        self.assertUserAsStored()

    def test_identity_provider_deleted_and_the_user_stays(self):
        self.come_from_elsewhere()

        self.delete_identity_provider()

        self.assertRefused()
        self.assertUserStays()
        self.assertUserAsStored()

    def test_identity_provider_deleted_and_the_caller(self):
        self.come_from_elsewhere()

        self.delete_identity_provider()

        self.elsewhere(
            self.get,
            '/auth/tokens',
            token=self.token_id,
            headers={'X-Subject-Token': self.token_id},
            expected_status=NOT_FOUND,
        )

    def test_protocol_deleted(self):
        with self.read_before(
            self.api.driver, 'delete_protocol', self.validate
        ):
            self.delete_protocol()

        self.assertRefused()
        self.assertUserAsStored()

    def test_protocol_deleted_and_the_user_stays(self):
        self.come_from_elsewhere()

        self.delete_protocol()

        self.assertRefused()
        self.assertUserStays()
        self.assertUserAsStored()

    def test_protocol_deleted_after_a_deadlock(self):
        deadlocks = [db_exception.DBDeadlock()]

        def delete_again(delete, *args):
            if deadlocks:
                raise deadlocks.pop()
            delete(*args)

        with self.replaced(self.api.driver, 'delete_protocol', delete_again):
            self.delete_protocol()

        self.assertRefused()
        self.assertUserAsStored()

    def test_protocol_deleted_and_reader_before_the_event(self):
        self.come_from_elsewhere()

        def read():
            # The event of this user may precede those of others.
            with contextlib.suppress(keystone.exception.TokenNotFound):
                self.validate()

        with self.read_before(PROVIDERS.revoke_api, 'revoke_by_user', read):
            self.delete_protocol()

        self.assertRefused()

    def test_protocol_deleted_and_made_anew(self):
        self.delete_protocol()
        self.api.create_protocol(
            self.idp_id,
            self.protocol_id,
            {'mapping_id': self.proto_saml['mapping_id']},
        )
        if not self.look_up():
            self.sign_in()
        self.assertEqual(
            self.federated_id,
            PROVIDERS.identity_api.get_user(self.federated_id)['id'],
        )

        self.assertRefused()

    def test_protocol_deleted_and_other_users(self):
        caller = self.get_scoped_token()
        self.delete_protocol()

        self.elsewhere(
            self.head,
            '/auth/tokens',
            token=caller,
            headers={'X-Subject-Token': caller},
            expected_status=http.client.OK,
        )

    def test_protocol_that_is_not_there(self):
        self.assertRaises(
            keystone.exception.FederatedProtocolNotFound,
            self.api.delete_protocol,
            self.idp_id,
            'unknown',
        )

        self.validate()
