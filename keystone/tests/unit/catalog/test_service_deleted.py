# SPDX-License-Identifier: Apache-2.0

"""Projects that were associated with an endpoint of a deleted service."""

from keystone.common import provider_api
from keystone.tests.unit import test_v3

PROVIDERS = provider_api.ProviderAPIs


class DeletedServiceTests(test_v3.RestfulTestCase):
    """Their tokens are issued and validated, with the catalog that is left."""

    def setUp(self):
        super().setUp()
        self.api = PROVIDERS.catalog_api
        self.api.add_endpoint_to_project(self.endpoint_id, self.project_id)

    def associations(self):
        return self.api.driver.list_endpoints_for_project(self.project_id)

    def catalog(self, token):
        answer = self.get(
            '/auth/tokens', headers={'X-Subject-Token': token}, token=token
        )
        return answer.result['token']['catalog']

    def test_tokens(self):
        token = self.get_scoped_token()
        self.delete(f'/services/{self.service_id}')

        self.assertEqual([], self.catalog(token))
        self.assertEqual([], self.catalog(self.get_scoped_token()))

    def test_associations_are_deleted(self):
        self.delete(f'/services/{self.service_id}')

        self.assertEqual([], self.associations())

    def test_what_an_earlier_deletion_has_left(self):
        self.api.driver.delete_service(self.service_id)
        self.api.get_endpoint.invalidate(self.api, self.endpoint_id)

        self.assertEqual(1, len(self.associations()))
        self.assertEqual(
            {}, self.api.list_endpoints_for_project(self.project_id)
        )
        self.assertEqual(
            [], self.api.driver.get_v3_catalog(self.user_id, self.project_id)
        )
