# SPDX-License-Identifier: Apache-2.0

import json
import threading

import fixtures

from keystone import catalog
from keystone.catalog import in_process
from keystone.catalog import reading
from keystone.common import after_fork
from keystone.common.cache import stores
from keystone.tests import unit
from keystone.tests.unit.catalog import content_base


class BoundTests(content_base.ContentTestCase):
    """Age, entries and bytes are bounded."""

    def setUp(self):
        super().setUp()
        self.now = 1000.0
        self.process = in_process.InProcess(
            catalog.COMPUTED_CATALOG_REGION, clock=lambda: self.now
        )

    def get(self, project_id=None):
        return self.elsewhere(self.catalog, self.process, project_id)

    def catalog(self, process, project_id):
        text = process.text(self.api, self.user, project_id)
        return text and json.loads(text)

    def configure(self, **kwargs):
        self.config_fixture.config(group='catalog', **kwargs)

    def write_unseen(self):
        """Add a service as something other than Keystone would."""
        service = unit.new_service_ref()
        self.api.driver.create_service(service['id'], service)

    def test_age(self):
        self.configure(cache_time=60)
        self.assertEqual(0, len(self.get()))
        stamp = self.process.kept.stamp
        self.write_unseen()

        self.now += 59.9
        self.assertEqual(0, len(self.get()))
        self.assertEqual('[]', self.process.known(stamp, self.user, None))
        self.assertIsNone(self.process.known(b'other', self.user, None))
        self.now += 0.1
        self.assertIsNone(self.process.known(stamp, self.user, None))
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
        kept = {one for one in self.process.kept._kept if type(one) is str}
        self.assertEqual({*self.projects}, kept)

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
            self.assertEqual([], self.catalog(process, self.project))

        self.elsewhere(self.new_service)

        for process in (self.process, other):
            found = self.elsewhere(self.catalog, process, self.project)
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

    def test_cache_that_fails(self):
        """The content would be of use to one request only."""
        ids = self.process.region.region_invalidator._region_manager.ids

        def fail(_keys):
            raise stores.Unavailable

        with fixtures.MockPatchObject(ids.store, 'get_many', fail):
            statements = self.statements()
            self.assertIsNone(self.get())
        self.assertEqual([], statements)
        self.assertEqual([], self.get())

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
