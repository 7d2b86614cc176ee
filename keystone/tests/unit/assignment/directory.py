# SPDX-License-Identifier: Apache-2.0

"""A group in a directory, with a member."""

import ldap

from keystone.common import provider_api
from keystone.tests import unit
from keystone.tests.unit.backend import core_ldap
from keystone.tests.unit.ksfixtures import ldapdb

PROVIDERS = provider_api.ProviderAPIs


class DirectoryTestCase(
    core_ldap.BaseBackendLdapIdentitySqlEverythingElse, unit.TestCase
):
    """The user ``user_foo`` is in a group of the directory."""

    def setUp(self):
        self.useFixture(ldapdb.LDAPDatabase())
        super().setUp()
        self.group = PROVIDERS.identity_api.create_group(
            unit.new_group_ref(domain_id=self.domain_default['id'])
        )
        PROVIDERS.identity_api.add_user_to_group(
            self.user_foo['id'], self.group['id']
        )

    def leave(self):
        """Remove the user from the group, past Keystone."""
        driver = PROVIDERS.identity_api.driver
        with driver.group.get_connection() as connection:
            connection.modify_s(
                driver.group.get(self.group['id'])['dn'],
                [
                    (
                        ldap.MOD_DELETE,
                        driver.group.member_attribute,
                        [driver.user.get(self.user_foo['id'])['dn']],
                    )
                ],
            )
