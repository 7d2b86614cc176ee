# SPDX-License-Identifier: Apache-2.0

"""Endpoints that come, change and go while catalogs are cached."""

import functools

from tempest.lib import decorators

from revcache_tempest_plugin.tests.api import base


class CurrentCatalogTest(base.PromiseTestCase):
    promise = 'current_catalog'

    @classmethod
    def setup_clients(cls):
        super().setup_clients()
        cls.services = cls.os_admin.identity_services_v3_client
        cls.endpoints = cls.os_admin.endpoints_v3_client
        cls.endpoint_groups = cls.os_admin.endpoint_groups_client

    def setUp(self):
        super().setUp()
        self.place = self.project()
        self.person = self.member(self.place)
        self.token = self.log_in(self.person, 'a token', project_id=self.place)

    def endpoint(self):
        """Create an endpoint of a new service; return what the API says."""
        name = self.name()
        service = self.services.create_service(type=name, name=name)['service']
        self.undo(self.services.delete_service, service['id'])
        endpoint = self.endpoints.create_endpoint(
            service_id=service['id'],
            interface='public',
            url=f'http://{name}.example/',
        )['endpoint']
        self.undo(self.endpoints.delete_endpoint, endpoint['id'])
        return endpoint

    def group(self, endpoint):
        """Create a group of one endpoint, for the project; return its id."""
        group = self.endpoint_groups.create_endpoint_group(
            name=self.name(), filters={'service_id': endpoint['service_id']}
        )['endpoint_group']['id']
        self.undo(self.endpoint_groups.delete_endpoint_group, group)
        path = f'OS-EP-FILTER/endpoint_groups/{group}/projects/{self.place}'
        self.endpoint_groups.put(path, None)
        self.undo(self.endpoint_groups.delete, path)
        return group

    def catalogs(self):
        """How to get each catalog that the user can see, by its name."""
        return {
            'GET /v3/auth/catalog': lambda: self.call(
                'GET', '/auth/catalog', self.token
            )[1]['catalog'],
            'a validated token': lambda: self.shown(self.token)['catalog'],
            'a new token': lambda: self.log_in(
                self.person, 'a new token', project_id=self.place
            ).body['catalog'],
        }

    def assert_shown(self, url, shown=True):
        """Fail unless every catalog has an URL, or none has."""

        def is_wrong(get):
            urls = {
                endpoint['url']
                for service in get()
                for endpoint in service['endpoints']
            }
            return shown != (url in urls)

        verb = 'lacked' if shown else 'still showed'
        self.assert_settled(
            *(
                (f'{name} {verb} {url}', functools.partial(is_wrong, get))
                for name, get in self.catalogs().items()
            )
        )

    @decorators.idempotent_id('2a8f61d5-c390-4e7b-b1f4-d96e05c7a328')
    def test_endpoint(self):
        url = (endpoint := self.endpoint())['url']
        self.assert_shown(url)
        moved = f'{url}elsewhere'
        self.endpoints.update_endpoint(endpoint['id'], url=moved)
        self.assert_shown(moved)
        self.assert_shown(url, False)
        self.endpoints.update_endpoint(endpoint['id'], enabled=False)
        self.assert_shown(moved, False)
        self.endpoints.update_endpoint(endpoint['id'], enabled=True)
        self.assert_shown(moved)
        self.endpoints.delete_endpoint(endpoint['id'])
        self.assert_shown(moved, False)

    @decorators.idempotent_id('6d4b09e7-1f5c-4a83-92ce-a7e8f3b0d514')
    def test_service(self):
        endpoint = self.endpoint()
        self.assert_shown(endpoint['url'])
        self.services.update_service(endpoint['service_id'], enabled=False)
        self.assert_shown(endpoint['url'], False)
        self.services.update_service(endpoint['service_id'], enabled=True)
        self.assert_shown(endpoint['url'])
        self.services.delete_service(endpoint['service_id'])
        self.assert_shown(endpoint['url'], False)

    @decorators.idempotent_id('e09c5a72-84bd-4f36-a1d0-3b7f62e8c95d')
    def test_changed_group(self):
        one, other = self.endpoint(), self.endpoint()
        group = self.group(one)
        self.assert_shown(one['url'])
        self.assert_shown(other['url'], False)
        self.endpoint_groups.update_endpoint_group(
            group, filters={'service_id': other['service_id']}
        )
        self.assert_shown(other['url'])
        self.assert_shown(one['url'], False)

    @decorators.idempotent_id('b86e1f3d-50a9-47c2-8d7b-c41e9f06a2d8')
    def test_deleted_group(self):
        one, other = self.endpoint(), self.endpoint()
        group, _kept = self.group(one), self.group(other)
        self.assert_shown(one['url'])
        self.assert_shown(other['url'])
        self.endpoint_groups.delete_endpoint_group(group)
        self.assert_shown(one['url'], False)
        self.assert_shown(other['url'])
