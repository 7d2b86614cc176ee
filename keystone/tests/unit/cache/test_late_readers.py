# SPDX-License-Identifier: Apache-2.0

import uuid

from keystone.common import provider_api
import keystone.exception
from keystone.identity.backends import resource_options
from keystone.tests.unit.write_order import base

PROVIDERS = provider_api.ProviderAPIs


class LateReaderTests(base.WriteOrderTestCase):
    """A value that was read before a write is not stored after it."""

    def test_disabled_project(self):
        api = PROVIDERS.resource_api
        api.get_project.invalidate(api, self.project_id)

        self.read_across(
            api.driver,
            'get_project',
            lambda: api.get_project(self.project_id),
            lambda: api.update_project(self.project_id, {'enabled': False}),
        )

        read = self.elsewhere(api.get_project, self.project_id)
        self.assertIs(False, read['enabled'])

    def test_disabled_domain(self):
        api = PROVIDERS.resource_api
        api.get_domain.invalidate(api, self.domain_id)

        self.read_across(
            api.driver,
            'get_project',
            lambda: api.get_domain(self.domain_id),
            lambda: api.update_domain(self.domain_id, {'enabled': False}),
        )

        read = self.elsewhere(api.get_domain, self.domain_id)
        self.assertIs(False, read['enabled'])

    def test_renamed_domain(self):
        api = PROVIDERS.resource_api
        old_name = self.domain['name']
        api.get_domain_by_name.invalidate(api, old_name)

        self.read_across(
            api.driver,
            'get_project_by_name',
            lambda: api.get_domain_by_name(old_name),
            lambda: api.update_domain(
                self.domain_id, {'name': uuid.uuid4().hex}
            ),
        )

        self.assertRaises(
            keystone.exception.DomainNotFound,
            self.elsewhere,
            api.get_domain_by_name,
            old_name,
        )

    def read_user_across(self, change):
        """The user as others read it, after a reader that was late."""
        api = PROVIDERS.identity_api
        api.get_user.invalidate(api, self.user_id)
        self.read_across(
            api.driver,
            'get_user',
            lambda: api.get_user(self.user_id),
            lambda: api.update_user(self.user_id, change),
        )
        return self.elsewhere(api.get_user, self.user_id)

    def test_disabled_user(self):
        read = self.read_user_across({'enabled': False})

        self.assertIs(False, read['enabled'])

    def test_user_who_needs_two_methods(self):
        rules = resource_options.MFA_RULES_OPT.option_name
        options = {rules: [['password', 'totp']]}

        read = self.read_user_across({'options': options})

        self.assertEqual(options, read['options'])
