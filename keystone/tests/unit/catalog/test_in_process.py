# SPDX-License-Identifier: Apache-2.0

import uuid

import fixtures
from oslo_cache import core as oslo_cache

from keystone.catalog.backends import sql as catalog_sql
from keystone import exception
from keystone.tests.unit.catalog import content_base


class AnswerTests(content_base.ContentTestCase):
    """What is answered, and what it costs."""

    def test_other_users_and_projects_cost_no_query(self):
        self.fill(3)
        self.ask(self.project)
        statements = self.statements()

        for project in (self.project, *self.projects, None):
            self.ask(project, uuid.uuid4().hex)

        self.assertEqual([], statements)

    def test_as_anew(self):
        service = self.fill(2)
        self.new_endpoint(service, url='https://%(user_id)s.example.com')
        self.new_endpoint(service, url='%(public_endpoint)s/v3')
        self.new_endpoint(service, enabled=False)
        self.new_endpoint(self.new_service(enabled=False))
        self.new_service()

        for project in (self.project, None):
            self.assertAsComputed(project)
            self.assertAsComputed(project, uuid.uuid4().hex)

    def test_answers_share_nothing(self):
        service = self.new_service()
        self.new_endpoint(service, more={'nested': [1]})
        self.new_endpoint(service)
        taken = self.ask(self.project)
        for endpoint in taken[0]['endpoints']:
            endpoint['url'] = 'spoilt'
            endpoint.get('more', {'nested': []})['nested'].append(2)
        taken[0]['name'] = 'spoilt'
        taken[0]['endpoints'].pop()
        taken.append('spoilt')

        self.assertAsComputed(self.project)

    def test_malformed_url_is_logged_once(self):
        service = self.new_service()
        self.new_endpoint(service, url='https://example.com/%(nothing)s')
        logged = self.useFixture(fixtures.FakeLogger())

        for _ in range(3):
            self.ask(self.project, uuid.uuid4().hex)

        self.assertEqual(1, logged.output.count('Malformed endpoint'))

    def test_unknown_project(self):
        self.assertRaises(
            exception.ProjectNotFound, self.ask, uuid.uuid4().hex
        )

    def test_nothing_is_put_into_the_shared_cache(self):
        self.fill(3)

        self.ask(self.project)

        get_catalog = self.api.get_v3_catalog
        cached = get_catalog.get(self.api, self.user, self.project)
        self.assertIs(oslo_cache.NO_VALUE, cached)


class FilterTests(content_base.ContentTestCase):
    """What projects are associated with stays exact."""

    def setUp(self):
        super().setUp()
        self.service = self.new_service()
        self.public = self.new_endpoint(self.service)
        self.admin = self.new_endpoint(self.service, interface='admin')
        self.all = {self.public, self.admin}
        self.assertEqual(self.all, self.shown(self.project))

    def show_all(self, value):
        self.config_fixture.config(
            group='endpoint_filter', return_all_endpoints_if_no_filter=value
        )

    def test_endpoint(self):
        self.api.add_endpoint_to_project(self.public, self.project)

        self.assertEqual({self.public}, self.shown(self.project))
        self.assertEqual(self.all, self.shown(self.projects[1]))
        self.assertEqual(self.all, self.shown())
        self.assertAsComputed(self.project)

    def test_group(self):
        group = self.new_group(interface='admin')
        self.api.add_endpoint_group_to_project(group, self.project)

        self.assertEqual({self.admin}, self.shown(self.project))

    def test_nothing_but_the_disabled(self):
        service = self.new_service(enabled=False)
        hidden = self.new_endpoint(service)
        self.api.add_endpoint_to_project(hidden, self.project)

        self.assertEqual([], self.ask(self.project))
        self.assertAsComputed(self.project)

    def test_nothing_but_the_deleted(self):
        service = self.new_service()
        gone = self.new_endpoint(service)
        self.api.add_endpoint_to_project(gone, self.project)
        self.api.delete_service(service)

        # Upstream's way fails here, with an error 500.
        self.assertEqual(self.all, self.shown(self.project))
        self.assertAsComputed(self.project)

    def test_none_shown_without_a_filter(self):
        self.show_all(False)

        self.assertEqual([], self.ask(self.project))
        self.assertEqual([], self.ask(None))

    def test_statements_of_a_filtered_project(self):
        group = self.new_group(interface='admin')
        for project in self.projects:
            self.api.add_endpoint_to_project(self.public, project)
            self.api.add_endpoint_group_to_project(group, project)
        self.ask(self.projects[0])
        statements = self.statements()

        self.ask(self.projects[1])
        first = len(statements)
        self.ask(self.projects[1], uuid.uuid4().hex)

        # Its endpoints, its groups, and one group.
        self.assertEqual(3, first)
        self.assertEqual(first, len(statements))


class _OtherDriver(catalog_sql.Catalog):
    """A driver of another vendor, derived from that of SQL."""

    def get_v3_catalog(self, user_id, project_id):
        return [{'id': 'theirs', 'endpoints': []}]


class OldPathTests(content_base.ContentTestCase):
    """Where upstream's way is taken."""

    def setUp(self):
        super().setUp()
        self.fill(1)

    def assertAsksTheDriver(self, times=1):
        asked = []

        def note(original, *args):
            asked.append(args)
            return original(*args)

        with self.replaced(self.api.driver, 'get_v3_catalog', note):
            for _ in range(2):
                self.assertEqual(1, len(self.ask(self.project)))
        self.assertEqual(times, len(asked))

    def test_not_by_default(self):
        self.assertAsksTheDriver(times=0)

    def test_switched_off(self):
        self.config_fixture.config(group='catalog', in_process_size=0)
        self.assertAsksTheDriver()

    def test_catalog_caching_off(self):
        self.config_fixture.config(group='catalog', caching=False)
        self.assertAsksTheDriver(times=2)

    def test_caching_off(self):
        self.config_fixture.config(group='cache', enabled=False)
        self.assertAsksTheDriver(times=2)

    def test_no_time_to_cache(self):
        self.config_fixture.config(group='catalog', cache_time=0)
        self.assertAsksTheDriver(times=2)

    def test_driver_of_another_vendor(self):
        self.api.driver = _OtherDriver()
        self.assertEqual('theirs', self.ask(self.project)[0]['id'])
