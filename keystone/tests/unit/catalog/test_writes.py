# SPDX-License-Identifier: Apache-2.0

"""Each write of the catalog is seen by each request that begins after it."""

from keystone.catalog import reading
from keystone.tests import unit
from keystone.tests.unit.catalog import content_base


_METHODS = (
    'create_service', 'update_service', 'delete_service',
    'create_endpoint', 'update_endpoint', 'delete_endpoint',
    'add_endpoint_to_project', 'remove_endpoint_from_project',
    'add_endpoint_group_to_project', 'remove_endpoint_group_from_project',
    'update_endpoint_group', 'delete_endpoint_group',
)  # fmt: skip


class WriteTests(content_base.ContentTestCase):
    """Other requests read at the worst moments of a write."""

    def setUp(self):
        super().setUp()
        self.region = unit.new_region_ref()
        self.api.create_region(self.region)
        self.service = self.new_service()
        self.first = self.new_endpoint(
            self.service, region_id=self.region['id']
        )
        self.second = self.new_endpoint(self.service, interface='admin')
        self.group = self.new_group(interface='admin')
        self.api.add_endpoint_to_project(self.first, self.projects[1])
        self.api.add_endpoint_group_to_project(self.group, self.projects[2])

    @property
    def writes(self):
        """{method of manager and driver: arguments}."""
        service = unit.new_service_ref()
        endpoint = unit.new_endpoint_ref(self.service, region_id=None)
        group, first = self.group, self.first
        one, two, three = self.projects
        return {
            'create_service': (service['id'], service),
            'update_service': (self.service, {'enabled': False}),
            'delete_service': (self.service,),
            'create_endpoint': (endpoint['id'], endpoint),
            'update_endpoint': (first, {'url': 'https://new.example.com'}),
            'delete_endpoint': (first,),
            'add_endpoint_to_project': (first, one),
            'remove_endpoint_from_project': (first, two),
            'add_endpoint_group_to_project': (group, one),
            'remove_endpoint_group_from_project': (group, three),
            'update_endpoint_group': (
                group, {'filters': {'interface': 'public'}},
            ),
            'delete_endpoint_group': (group,),
        }  # fmt: skip

    def answers(self):
        return [self.ask(project) for project in (*self.projects, None)]

    def in_between(self, method, args):
        """Write while another request reads before the database changes."""
        reads = []

        def ask_then_write(write, *write_args):
            self.answers()
            reads.append(method)
            return write(*write_args)

        with self.replaced(self.api.driver, method, ask_then_write):
            getattr(self.api, method)(*args)
        self.assertEqual([method], reads)

    def across(self, method, args):
        """Write while another request, which has read, is yet to keep it."""
        # It has to read.
        self.api.create_region(unit.new_region_ref())
        writes = [lambda: getattr(self.api, method)(*args)]

        def read_then_wait(read, *read_args):
            content = read(*read_args)
            if writes:
                self.elsewhere(writes.pop())
            return content

        with self.replaced(reading, 'read_content', read_then_wait):
            self.ask()
        self.assertEqual([], writes)

    def assertSeen(self, how, method):
        """A write changes some answer, and each is the driver's."""
        args = self.writes[method]
        before = self.answers()
        how(method, args)
        self.assertNotEqual(before, self.answers())
        for project in (*self.projects, None):
            self.assertAsComputed(project)


def _add_tests():
    """A test for each write and each moment of it."""
    for method in _METHODS:
        for how in ('in_between', 'across'):

            def test(self, method=method, how=how):
                self.assertSeen(getattr(self, how), method)

            setattr(WriteTests, f'test_{method}_{how}', test)


_add_tests()
