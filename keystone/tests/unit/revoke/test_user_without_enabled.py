# SPDX-License-Identifier: Apache-2.0

from keystone.common import provider_api
import keystone.conf
from keystone import exception
from keystone.tests import unit
from keystone.tests.unit.backend import core_ldap
from keystone.tests.unit import ksfixtures
from keystone.tests.unit.ksfixtures import ldapdb

CONF = keystone.conf.CONF
PROVIDERS = provider_api.ProviderAPIs


class UserWithoutEnabledTests(
    core_ldap.BaseBackendLdapIdentitySqlEverythingElse, unit.TestCase
):
    """Users of a directory that does not say who is enabled."""

    def setUp(self):
        self.useFixture(ldapdb.LDAPDatabase())
        super().setUp()
        self.useFixture(
            ksfixtures.KeyRepository(
                self.config_fixture,
                'fernet_tokens',
                CONF.fernet_tokens.max_active_keys,
            )
        )

    def issue(self):
        return PROVIDERS.token_provider_api.issue_token(
            self.user_foo['id'], ['password']
        )

    def validate(self, token):
        return PROVIDERS.token_provider_api.validate_token(token.id)

    def events(self):
        return PROVIDERS.revoke_api.list_events()

    def test_counts_as_enabled(self):
        self.config_fixture.config(
            group='ldap', user_attribute_ignore=['enabled']
        )
        # The driver reads the option when it is made.
        self.load_backends()
        user = PROVIDERS.identity_api.get_user(self.user_foo['id'])
        self.assertNotIn('enabled', user)
        token = self.issue()

        self.assertEqual(token.audit_id, self.validate(token).audit_id)
        self.assertEqual([], self.events())

    def test_disabled_user_is_still_refused(self):
        token = self.issue()
        self.validate(token)

        # Behind Keystone's back, as a directory does it.
        driver = PROVIDERS.identity_api.driver
        driver.update_user(self.user_foo['id'], {'enabled': False})
        PROVIDERS.identity_api.get_user.invalidate(
            PROVIDERS.identity_api, self.user_foo['id']
        )

        self.assertRaises(exception.TokenNotFound, self.validate, token)
