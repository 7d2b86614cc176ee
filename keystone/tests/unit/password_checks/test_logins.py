# SPDX-License-Identifier: Apache-2.0

import datetime
import http.client

import fixtures
from oslo_utils import fixture as utils_fixture
from oslo_utils import timeutils

from keystone.common import password_checks
from keystone.common import provider_api
from keystone.tests import unit
from keystone.tests.unit.password_checks import base
from keystone.tests.unit import test_v3

PROVIDERS = provider_api.ProviderAPIs

_ATTEMPTS = 3


class LoginTestCase(test_v3.RestfulTestCase):
    """Someone whose password a process remembers."""

    def setUp(self):
        super().setUp()
        self.config_fixture.config(
            group='identity', password_check_cache_time=3600
        )
        self.config_fixture.config(
            group='security_compliance',
            lockout_failure_attempts=_ATTEMPTS,
            lockout_duration=600,
        )
        self.hashes = self.useFixture(base.CountsHashes())
        self.time = self.useFixture(utils_fixture.TimeFixture())
        self.caller = self.get_scoped_token()
        self.person = unit.create_user(PROVIDERS.identity_api, self.domain_id)
        self.assertLogin(1)
        self.assertLogin(0)

    def log_in(self, password=None, expected=http.client.CREATED):
        auth = self.build_authentication_request(
            user_id=self.person['id'],
            password=password or self.person['password'],
        )
        return self.v3_create_token(auth, expected_status=expected)

    def assertLogin(self, hashes, password=None):
        """Someone can log in, which takes so many hashes."""
        self.assertEqual(hashes, self.hashes.of(self.log_in, password))

    def assertRefused(self, hashes, password=None):
        """Someone cannot log in, which takes so many hashes."""
        self.assertEqual(
            hashes,
            self.hashes.of(self.log_in, password, http.client.UNAUTHORIZED),
        )

    def update(self, **values):
        PROVIDERS.identity_api.update_user(self.person['id'], values)


class LoginTests(LoginTestCase):
    """What refuses a login refuses it at once."""

    def test_many(self):
        for _ in range(5):
            self.assertLogin(0)
            self.assertRefused(1, 'wrong')
            self.assertLogin(0)

    def test_user_changes_the_password(self):
        self.post(
            f'/users/{self.person["id"]}/password',
            body={
                'user': {
                    'original_password': self.person['password'],
                    'password': 'changed',
                }
            },
            token=self.log_in().headers['X-Subject-Token'],
            expected_status=http.client.NO_CONTENT,
        )

        self.assertRefused(1)
        self.assertLogin(1, 'changed')
        self.assertLogin(0, 'changed')
        self.assertRefused(1)

    def test_somebody_sets_the_password(self):
        self.update(password='set')

        self.assertRefused(1)
        self.assertLogin(1, 'set')

    def test_set_by_another_process(self):
        with fixtures.MockPatchObject(
            password_checks, 'CHECKS', password_checks.PasswordChecks()
        ):
            self.update(password='set')
            self.assertLogin(1, 'set')

        self.assertRefused(1)
        self.assertLogin(1, 'set')

    def test_same_password_is_set_again(self):
        self.update(password=self.person['password'])

        self.assertLogin(1)
        self.assertLogin(0)

    def test_disabled(self):
        self.update(enabled=False)
        # As stock: before the password is looked at.
        self.assertRefused(0)

        self.update(enabled=True)
        self.assertLogin(0)

    def test_domain_disabled(self):
        domain = unit.new_domain_ref()
        PROVIDERS.resource_api.create_domain(domain['id'], domain)
        self.person = unit.create_user(PROVIDERS.identity_api, domain['id'])
        self.assertLogin(1)
        PROVIDERS.resource_api.update_domain(domain['id'], {'enabled': False})

        self.assertRefused(0)

    def test_deleted(self):
        PROVIDERS.identity_api.delete_user(self.person['id'])

        self.assertRefused(0)

    def test_expired(self):
        self.config_fixture.config(
            group='security_compliance', password_expires_days=1
        )
        self.update(password='expires')
        self.assertLogin(1, 'expires')
        self.assertLogin(0, 'expires')

        self.time.advance_time_delta(_minutes(24 * 60))

        self.assertRefused(0, 'expires')

    def test_locked_out(self):
        for _ in range(_ATTEMPTS):
            self.assertRefused(1, 'wrong')

        # As stock: before the password is looked at.
        self.assertRefused(0)
        self.assertRefused(0, 'wrong')

        self.time.advance_time_delta(_minutes(11))
        self.assertLogin(0)

    def test_a_login_resets_the_count_of_failed_ones(self):
        for _ in range(2):
            for _ in range(_ATTEMPTS - 1):
                self.assertRefused(1, 'wrong')
            self.assertLogin(0)

    def test_another_user_with_the_same_password(self):
        password = self.person['password']
        self.person = unit.create_user(
            PROVIDERS.identity_api, self.domain_id, password=password
        )

        self.assertLogin(1)
        self.assertLogin(0)

    def test_old_password_is_no_new_one(self):
        self.config_fixture.config(
            group='security_compliance', unique_last_password_count=2
        )
        self.update(password='changed')
        token = self.log_in('changed').headers['X-Subject-Token']

        for password in ('changed', self.person['password']):
            self.post(
                f'/users/{self.person["id"]}/password',
                body={
                    'user': {
                        'original_password': 'changed',
                        'password': password,
                    }
                },
                token=token,
                expected_status=http.client.BAD_REQUEST,
            )


class SecretTests(LoginTestCase):
    """The same for secrets of application credentials."""

    def setUp(self):
        super().setUp()
        self.api = PROVIDERS.application_credential_api
        self.credential = self.create()
        self.assertLogin(1)
        self.assertLogin(0)

    def create(self, **values):
        return self.api.create_application_credential(
            {
                **unit.new_application_credential_ref(secret='secret'),
                'user_id': self.user_id,
                'project_id': self.project_id,
                'roles': [{'id': self.role_id}],
                **values,
            }
        )

    def log_in(self, secret=None, expected=http.client.CREATED):
        if not hasattr(self, 'credential'):
            return super().log_in(secret, expected)
        auth = self.build_authentication_request(
            app_cred_id=self.credential['id'],
            secret=secret or self.credential['secret'],
        )
        return self.v3_create_token(auth, expected_status=expected)

    def test_wrong_one(self):
        for _ in range(2):
            self.assertRefused(1, 'wrong')

    def test_deleted(self):
        self.api.delete_application_credential(self.credential['id'])

        self.log_in(expected=http.client.NOT_FOUND)

    def test_expired(self):
        self.credential = self.create(
            expires_at=timeutils.utcnow() + _minutes(10)
        )
        self.assertLogin(1)

        self.time.advance_time_delta(_minutes(11))

        self.assertRefused(0)

    def test_user_disabled(self):
        PROVIDERS.identity_api.update_user(self.user_id, {'enabled': False})

        self.assertRefused(0)


def _minutes(number):
    return datetime.timedelta(minutes=number)
