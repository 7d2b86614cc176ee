# SPDX-License-Identifier: Apache-2.0

import http.client
import json
import os

import fixtures

from keystone.common import provider_api
from keystone.tests import unit
from keystone.tests.unit.validation_cache import base

PROVIDERS = provider_api.ProviderAPIs


class CatalogTests(base.ValidationCacheTestCase):
    """Records stay valid when the catalog changes, and answers contain it."""

    def setUp(self):
        super().setUp()
        self.api = PROVIDERS.catalog_api
        self.assertHit()

    def add_endpoint(self, **kwargs):
        endpoint = unit.new_endpoint_ref(
            self.service_id, interface='internal', region_id=self.region_id,
            **kwargs,
        )  # fmt: skip
        self.api.create_endpoint(endpoint['id'], endpoint)
        return endpoint

    def assertCurrent(self, *urls):
        """Records are used; the answer has these and the first endpoint."""
        for _ in range(2):
            answer = self.assertHit()
            self.assertSame(self.ask_past(), answer)
        (service,) = json.loads(answer[2])['token']['catalog']
        found = {one['url'] for one in service['endpoints']}
        self.assertEqual({self.endpoint['url'], *urls}, found)

    def test_changes(self):
        endpoint = self.add_endpoint()
        self.assertCurrent(endpoint['url'])

        self.api.update_endpoint(endpoint['id'], {'url': 'http://another'})
        self.assertCurrent('http://another')

        self.api.delete_endpoint(endpoint['id'])
        self.assertCurrent()

    def test_ids_in_urls(self):
        self.add_endpoint(url='http://k/%(tenant_id)s/$(user_id)s')

        self.assertCurrent(f'http://k/{self.project_id}/{self.user_id}')

    def test_formatted_id(self):
        self.add_endpoint(url='http://k/%(project_id).8s')

        self.assertCurrent(f'http://k/{self.project_id[:8]}')

    def test_malformed_url(self):
        """It is not shown, and the others are not built each time."""
        self.add_endpoint(url='http://k/100%')
        self.assertCurrent()

        built = fixtures.MockPatchObject(self.api, 'get_v3_catalog')
        with built, self.counted(hit=2):
            self.ask()
        built.mock.assert_not_called()

    def test_id_that_json_escapes(self):
        self.add_endpoint(url='http://k/$(user_id)s')
        (service,) = self.api.get_v3_catalog('a"\u20ac', self.project_id)

        urls = {one['url'] for one in service['endpoints']}
        self.assertIn('http://k/a"\u20ac', urls)

    def test_endpoints_of_a_project(self):
        endpoint = self.add_endpoint()
        self.assertCurrent(endpoint['url'])

        self.api.add_endpoint_to_project(self.endpoint_id, self.project_id)
        self.assertCurrent()

        self.api.add_endpoint_to_project(endpoint['id'], self.project_id)
        self.assertCurrent(endpoint['url'])

    def test_not_kept_in_memory(self):
        self.config_fixture.config(group='catalog', in_process_size=0)
        endpoint = self.add_endpoint()
        self.assertCurrent(endpoint['url'])

        self.api.delete_endpoint(endpoint['id'])
        self.assertCurrent()

    def test_not_cached(self):
        self.config_fixture.config(group='catalog', caching=False)
        endpoint = self.add_endpoint()

        self.assertCurrent(endpoint['url'])


class RuleTests(base.ValidationCacheTestCase):
    """A rule may depend on the catalog of the caller."""

    def config_overrides(self):
        super().config_overrides()
        folder = self.useFixture(fixtures.TempDir()).path
        path = os.path.join(folder, 'policy.yaml')
        with open(path, 'w') as stream:
            stream.write('"identity:validate_token": "token.catalog.type:a"')
        self.config_fixture.config(group='oslo_policy', policy_file=path)

    def test_service_deleted(self):
        service = unit.new_service_ref(type='a')
        PROVIDERS.catalog_api.create_service(service['id'], service)
        self.assertNoHit()
        for _ in range(2):
            self.assertHit()

        PROVIDERS.catalog_api.delete_service(service['id'])

        self.assertNoHit(status=http.client.FORBIDDEN)
