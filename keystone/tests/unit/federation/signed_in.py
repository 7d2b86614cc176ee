# SPDX-License-Identifier: Apache-2.0

"""Users who sign in by an identity provider."""

from keystone.tests.unit import test_v3_federation


class SignedInMixin(test_v3_federation.FederatedSetupMixin):
    """For a RestfulTestCase: identity providers, mappings and assertions."""

    def auth_plugin_config_override(self, methods=None, **method_classes):
        super().auth_plugin_config_override(['saml2', 'token', 'password'])

    def load_fixtures(self, fixtures):
        super().load_fixtures(fixtures)
        self.load_federation_sample_data()
