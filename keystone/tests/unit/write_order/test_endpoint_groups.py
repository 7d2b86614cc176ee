# SPDX-License-Identifier: Apache-2.0

from keystone.common import provider_api
from keystone.tests import unit
from keystone.tests.unit.write_order import base

PROVIDERS = provider_api.ProviderAPIs


class EndpointGroupTests(base.WriteOrderTestCase):
    """A project sees the endpoints of its endpoint groups as they are."""

    def setUp(self):
        super().setUp()
        self.api = PROVIDERS.catalog_api
        self.admin = self.new_endpoint('admin')
        self.internal = self.new_endpoint('internal')
        group = unit.new_endpoint_group_ref(filters={'interface': 'admin'})
        self.group_id = group['id']
        self.api.create_endpoint_group(self.group_id, group)
        self.api.add_endpoint_group_to_project(self.group_id, self.project_id)
        self.assertEqual({self.admin}, self.shown())

    def new_endpoint(self, interface):
        endpoint = unit.new_endpoint_ref(
            self.service_id, interface=interface, region_id=self.region_id
        )
        self.api.create_endpoint(endpoint['id'], endpoint)
        return endpoint['id']

    def catalog(self):
        return self.api.get_v3_catalog(self.user['id'], self.project_id)

    def shown(self):
        """Ids of the endpoints that another worker shows to the user."""
        return {
            endpoint['id']
            for service in self.elsewhere(self.catalog)
            for endpoint in service['endpoints']
        }

    def change(self, **values):
        return self.api.update_endpoint_group(self.group_id, values)

    def test_changed(self):
        self.change(filters={'interface': 'internal'})

        self.assertEqual({self.internal}, self.shown())

    def test_deleted(self):
        self.api.delete_endpoint_group(self.group_id)

        self.assertEqual(
            {self.admin, self.internal, self.endpoint_id}, self.shown()
        )

    def test_reader_in_between(self):
        with self.read_before(
            self.api.driver, 'update_endpoint_group', self.catalog
        ):
            self.change(filters={'interface': 'internal'})

        self.assertEqual({self.internal}, self.shown())

    def test_answer_of_a_change(self):
        changed = self.change(name='new')

        self.assertEqual('new', changed['name'])
        self.assertEqual({'interface': 'admin'}, changed['filters'])
