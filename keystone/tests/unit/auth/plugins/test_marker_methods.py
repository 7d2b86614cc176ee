# SPDX-License-Identifier: Apache-2.0

"""Tokens of EC2 credentials, on releases where no plugin has this method."""

import http.client

from keystone.auth.plugins import core as plugins
from keystone.common import provider_api
import keystone.conf
from keystone.tests.unit import test_v3
from keystone.token import provider

CONF = keystone.conf.CONF
PROVIDERS = provider_api.ProviderAPIs


class MarkerMethodTests(test_v3.RestfulTestCase):
    def issue(self):
        return PROVIDERS.token_provider_api.issue_token(
            self.user_id, ['ec2credential'], project_id=self.project_id
        ).id

    def test_methods_of_a_decoded_token(self):
        token_id = self.issue()
        # Upstream caches the token as it was before it was encoded.
        provider.TOKENS_REGION.invalidate()

        token = PROVIDERS.token_provider_api.validate_token(token_id)

        self.assertEqual(['ec2credential'], token.methods)

    def test_decoded_token_is_rejected(self):
        token_id = self.issue()
        provider.TOKENS_REGION.invalidate()

        self.get(
            f'/users/{self.user_id}',
            token=token_id,
            expected_status=http.client.FORBIDDEN,
        )

    def test_other_methods_keep_their_bits(self):
        bit = 1
        for method in CONF.auth.methods:
            self.assertEqual(
                bit, plugins.convert_method_list_to_integer([method])
            )
            bit *= 2

    def test_together_with_others(self):
        methods = ['ec2credential', *reversed(CONF.auth.methods)]
        number = plugins.convert_method_list_to_integer(methods)

        self.assertEqual(
            methods, plugins.convert_integer_to_method_list(number)
        )

    def test_configured_method(self):
        methods = ['password', 'ec2credential', 'token']
        self.config_fixture.config(group='auth', methods=methods)

        self.assertEqual(
            2, plugins.convert_method_list_to_integer(['ec2credential'])
        )
        self.assertEqual(
            ['ec2credential'], plugins.convert_integer_to_method_list(2)
        )
