# SPDX-License-Identifier: Apache-2.0

import threading
import uuid

import fixtures
from oslo_cache import core as oslo_cache

from keystone import catalog
from keystone.catalog.backends import sql as catalog_sql
from keystone.catalog import in_process
from keystone.catalog import reading
from keystone.common import after_fork
from keystone import exception
from keystone.tests import unit
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


class BoundTests(content_base.ContentTestCase):
    """Age, entries and bytes are bounded."""

    def setUp(self):
        super().setUp()
        self.now = 1000.0
        self.process = in_process.InProcess(
            catalog.COMPUTED_CATALOG_REGION, clock=lambda: self.now
        )

    def get(self, project_id=None):
        return self.elsewhere(
            self.process.catalog, self.api, self.user, project_id
        )

    def configure(self, **kwargs):
        self.config_fixture.config(group='catalog', **kwargs)

    def write_unseen(self):
        """Add a service as something other than Keystone would."""
        service = unit.new_service_ref()
        self.api.driver.create_service(service['id'], service)

    def test_age(self):
        self.configure(cache_time=60)
        self.assertEqual(0, len(self.get()))
        self.write_unseen()

        self.now += 59.9
        self.assertEqual(0, len(self.get()))
        self.now += 0.1
        self.assertEqual(1, len(self.get()))

    def test_age_is_that_of_all_caches_by_default(self):
        self.config_fixture.config(group='cache', expiration_time=60)
        self.assertEqual(60, self.process.bound)

    def test_age_of_an_association(self):
        """It is counted from when the content was read."""
        self.configure(cache_time=60)
        endpoints = [self.new_endpoint(self.new_service()) for _ in 'ab']
        self.api.add_endpoint_to_project(endpoints[0], self.projects[1])
        self.get(self.project)
        self.now += 59
        self.assertEqual(2, len(self.get(self.projects[2])))
        self.api.driver.add_endpoint_to_project(endpoints[0], self.projects[2])
        self.now += 1

        self.assertEqual(1, len(self.get(self.projects[2])))

    def test_size(self):
        self.configure(in_process_size=1)
        self.fill(100, url='https://example.com/' + 2000 * 'x')
        self.get()
        size = self.process.kept.size
        self.assertGreater(size, 100 * 2000)

        self.fill(400, url='https://example.com/' + 2000 * 'x')

        self.assertIsNone(self.get())
        self.assertIsNone(self.process.kept.content)
        self.assertEqual(0, self.process.kept.size)
        self.assertAsComputed(self.project)

    def test_size_of_projects(self):
        self.configure(in_process_size=1)
        service = self.fill(90, url='https://example.com/' + 2000 * 'x')
        group = self.new_group(service_id=service)
        for project in self.projects:
            self.api.add_endpoint_group_to_project(group, project)
        self.get()
        alone = self.process.kept.size
        # The content, and the list of endpoints that filters apply to.
        self.assertGreater(alone, 2 * 90 * 2000)

        for project in self.projects:
            self.get(project)

        self.assertGreater(self.process.kept.size, alone + 3 * 90 * 30)
        self.assertLess(self.process.kept.size, 1024 * 1024)
        self.assertEqual(3, len(self.process.kept._visible))

    def test_too_large_is_not_read_each_time(self):
        self.configure(in_process_size=1)
        self.fill(600, url='https://example.com/' + 2000 * 'x')
        self.assertIsNone(self.get())
        statements = self.statements()

        self.assertIsNone(self.get())

        self.assertEqual([], statements)

    def test_a_thousand_endpoints_are_kept(self):
        service = self.new_service()
        for _ in range(1000):
            endpoint = unit.new_endpoint_ref(service, region_id=None)
            self.api.driver.create_endpoint(endpoint['id'], endpoint)

        self.assertEqual(1000, len(self.get()[0]['endpoints']))

        self.assertLess(self.process.kept.size, 2 * 1024 * 1024)
        statements = self.statements()
        self.get(self.projects[1])
        self.assertEqual([], statements)

    def test_a_write_is_seen_by_each_process(self):
        other = in_process.InProcess(catalog.COMPUTED_CATALOG_REGION)
        for process in (self.process, other):
            self.assertEqual(
                [], process.catalog(self.api, self.user, self.project)
            )

        self.elsewhere(self.new_service)

        for process in (self.process, other):
            found = self.elsewhere(
                process.catalog, self.api, self.user, self.project
            )
            self.assertEqual(1, len(found))

    def test_child_process_reads_for_itself(self):
        self.get()
        kept = self.process.kept
        held = self.process._lock
        held.acquire()
        self.addCleanup(held.release)

        after_fork.run()

        self.assertIsNone(self.process.kept)
        self.get()
        self.assertIsNot(kept, self.process.kept)

    def test_threads_read_once(self):
        self.fill(3)
        entered, go_on = threading.Event(), threading.Event()
        reads = []

        def read(original):
            reads.append(1)
            entered.set()
            self.assertTrue(go_on.wait(60))
            return original()

        answers = []
        with self.replaced(reading, 'read_content', read):
            threads = [
                threading.Thread(target=lambda: answers.append(self.get()))
                for _ in range(3)
            ]
            for thread in threads:
                thread.start()
            self.assertTrue(entered.wait(60))
            go_on.set()
            for thread in threads:
                thread.join(60)

        self.assertEqual(1, len(reads))
        self.assertEqual([self.get()] * 3, answers)


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
