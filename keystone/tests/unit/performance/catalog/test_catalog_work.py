# SPDX-License-Identifier: Apache-2.0

import uuid

import fixtures
from oslo_serialization import msgpackutils

from keystone.catalog import content
from keystone.catalog import core
from keystone.catalog import in_process
from keystone.common import utils
from keystone.tests import unit
from keystone.tests.unit.catalog import content_base


class CatalogWorkTests(content_base.ContentTestCase):
    """What the catalog of one more user and project costs."""

    def add(self, number):
        service = self.new_service()
        for _ in range(number):
            endpoint = unit.new_endpoint_ref(
                service,
                region_id=None,
                url='https://cloud.example.com/v3/%(project_id)s',
            )
            self.api.driver.create_endpoint(endpoint['id'], endpoint)
        self.api.create_region(unit.new_region_ref())

    def coded(self, function, *args):
        """Count the bytes that a call decodes from a cache, or encodes."""
        counts = {'loads': 0, 'dumps': 0}

        def loads(original, text, *more):
            counts['loads'] += len(text)
            return original(text, *more)

        def dumps(original, *more):
            text = original(*more)
            counts['dumps'] += len(text)
            return text

        with self.replaced(msgpackutils, 'loads', loads):
            with self.replaced(msgpackutils, 'dumps', dumps):
                function(*args)
        return counts['loads'], counts['dumps']

    def test_nothing_of_it_is_coded(self):
        found = []
        for number in (1, 1000):
            self.add(number)
            found.append(
                [self.coded(self.ask, project) for project in self.projects]
            )

        self.assertEqual(found[0], found[1])
        self.assertLess(sum(map(sum, found[1])), 10_000)

    def test_statements_of_1000_users_and_of_each_project(self):
        self.add(100)
        statements = self.statements()

        for project in self.projects:
            for _ in range(1000):
                self.ask(project, uuid.uuid4().hex)

        # The content, and whether anything is associated.
        self.assertEqual(2, len(statements))

    def test_statements_after_each_write(self):
        self.add(100)
        self.ask(self.project)
        statements = self.statements()

        for number in range(1, 4):
            self.api.create_region(unit.new_region_ref())
            del statements[:]
            for project in self.projects:
                self.ask(project)
            self.assertEqual(2, len(statements), number)

    def test_memory_does_not_grow_with_users(self):
        self.add(100)
        process = in_process.InProcess(core.COMPUTED_CATALOG_REGION)
        process.text(self.api, self.user, self.project)
        size = process.kept.size

        for _ in range(1000):
            process.text(self.api, uuid.uuid4().hex, self.project)

        self.assertEqual(size, process.kept.size)
        # What is visible to the project, and the template.
        self.assertEqual(2, len(process.kept._kept))

    def test_memory_of_an_endpoint(self):
        """The option's help tells of 1,000 endpoints in 1.1 MiB."""
        self.add(1000)
        process = in_process.InProcess(core.COMPUTED_CATALOG_REGION)

        process.text(self.api, self.user, self.project)

        self.assertLess(process.kept.size / 1000, 1200)
        self.assertGreater(process.kept.size / 1000, 1000)

    def test_without_a_template_none_is_tried_again(self):
        self.new_endpoint(
            self.new_service(), url='https://example.com/%(project_id).8s'
        )
        tried = self.useFixture(
            fixtures.MockPatchObject(
                content.Content,
                'template',
                autospec=True,
                side_effect=content.Content.template,
            )
        ).mock

        for _ in range(3):
            self.ask(self.project, uuid.uuid4().hex)

        self.assertEqual(1, tried.call_count)

    def test_malformed_urls_are_formatted_once(self):
        service = self.new_service()
        for _ in range(100):
            self.new_endpoint(service, url='https://example.com/%(nothing)s')
        calls = []

        def note(original, *args):
            calls.append(args)
            return original(*args)

        with self.replaced(utils, 'format_url', note):
            for _ in range(10):
                self.ask(self.project, uuid.uuid4().hex)

        self.assertEqual(100, len(calls))
