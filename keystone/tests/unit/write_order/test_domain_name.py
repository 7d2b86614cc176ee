# SPDX-License-Identifier: Apache-2.0

import uuid

from keystone.common import provider_api
import keystone.exception
from keystone.tests import unit
from keystone.tests.unit.write_order import base

PROVIDERS = provider_api.ProviderAPIs


class DomainNameTests(base.WriteOrderTestCase):
    """A domain is found by its present name only."""

    def setUp(self):
        super().setUp()
        self.api = PROVIDERS.resource_api
        self.old_name = self.domain['name']
        self.assertEqual(self.domain_id, self.find(self.old_name))

    def find(self, name):
        """Look a domain up as another worker; its id."""
        return self.elsewhere(self.api.get_domain_by_name, name)['id']

    def rename(self):
        self.api.update_project(self.domain_id, {'name': uuid.uuid4().hex})

    def assertForgotten(self):
        self.assertRaises(
            keystone.exception.DomainNotFound, self.find, self.old_name
        )

    def test_old_name(self):
        self.rename()

        self.assertForgotten()

    def test_domain_that_takes_the_name_over(self):
        self.rename()
        heir = unit.new_domain_ref(name=self.old_name)
        self.api.create_domain(heir['id'], heir)

        self.assertEqual(heir['id'], self.find(self.old_name))
