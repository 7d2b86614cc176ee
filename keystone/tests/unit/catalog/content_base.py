# SPDX-License-Identifier: Apache-2.0

"""A catalog in a database, and workers that ask for it."""

import contextlib
import functools
import uuid

import fixtures
from oslo_context import context as oslo_context
from oslo_serialization import jsonutils
import sqlalchemy

from keystone.common import provider_api
from keystone.common import sql
from keystone.tests import unit
from keystone.tests.unit import default_fixtures
from keystone.tests.unit.ksfixtures import database

PROVIDERS = provider_api.ProviderAPIs


class ContentTestCase(unit.TestCase):
    """Compares catalogs of the manager with those of the driver."""

    def setUp(self):
        super().setUp()
        self.useFixture(database.Database())
        self.load_backends()
        self.api = PROVIDERS.catalog_api
        for domain in (default_fixtures.ROOT_DOMAIN, unit.new_domain_ref()):
            PROVIDERS.resource_api.create_domain(domain['id'], domain)
        self.projects = [self.new_project(domain) for _ in range(3)]
        self.project = self.projects[0]
        self.user = uuid.uuid4().hex

    def new_project(self, domain):
        project = unit.new_project_ref(domain_id=domain['id'])
        PROVIDERS.resource_api.create_project(project['id'], project)
        # What the catalog costs is counted, not the first look at a project.
        PROVIDERS.resource_api.get_project(project['id'])
        return project['id']

    def new_service(self, **kwargs):
        service = unit.new_service_ref(**kwargs)
        self.api.create_service(service['id'], service)
        return service['id']

    def new_endpoint(self, service_id, **kwargs):
        kwargs.setdefault('region_id', None)
        endpoint = unit.new_endpoint_ref(service_id, **kwargs)
        self.api.create_endpoint(endpoint['id'], endpoint)
        return endpoint['id']

    def new_group(self, **filters):
        group = unit.new_endpoint_group_ref(filters=filters)
        self.api.create_endpoint_group(group['id'], group)
        return group['id']

    def fill(self, number, url='https://cloud.example.com/v3/%(project_id)s'):
        """Add a service with a number of endpoints."""
        service_id = self.new_service()
        for _ in range(number):
            self.new_endpoint(service_id, url=url)
        return service_id

    def elsewhere(self, function, *args):
        """Call a function as another request does, with its own context."""
        ours = oslo_context.get_current()
        oslo_context.RequestContext(overwrite=True)
        try:
            return function(*args)
        finally:
            if ours is not None:
                ours.update_store()

    def ask(self, project_id=None, user_id=None):
        """The catalog that another request gets."""
        return self.elsewhere(
            self.api.get_v3_catalog, user_id or self.user, project_id
        )

    def computed(self, project_id=None, user_id=None):
        """The catalog that the driver makes, as upstream does."""
        if project_id:
            # The driver fails on what a deleted service has left behind.
            self.api.list_endpoints_for_project(project_id)
        return self.api.driver.get_v3_catalog(user_id or self.user, project_id)

    def shown(self, project_id=None):
        """Ids of the endpoints that another request is shown."""
        return {
            endpoint['id']
            for service in self.ask(project_id)
            for endpoint in service['endpoints']
        }

    def assertAsComputed(self, project_id=None, user_id=None):
        """What is answered is what the driver makes, to the byte."""
        # Asked for in this order: the second tidies up.
        answered = self.ask(project_id, user_id)
        self.assertEqual(
            jsonutils.dumps(self.computed(project_id, user_id)),
            jsonutils.dumps(answered),
        )

    def statements(self):
        """List that receives each query of the catalog from now on."""
        found = []

        def note(connection, cursor, statement, *_):
            if statement.startswith('SELECT'):
                found.append(statement)

        with sql.session_for_read() as session:
            engine = session.get_bind()
        event = (engine, 'before_cursor_execute', note)
        sqlalchemy.event.listen(*event)
        self.addCleanup(sqlalchemy.event.remove, *event)
        return found

    @contextlib.contextmanager
    def replaced(self, target, name, function):
        """Call a function with the original in front, instead of it."""
        original = getattr(target, name)
        with fixtures.MockPatchObject(
            target, name, functools.partial(function, original)
        ):
            yield
