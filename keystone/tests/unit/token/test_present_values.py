# SPDX-License-Identifier: Apache-2.0

import contextlib
import uuid

from keystone.common import provider_api
import keystone.exception
from keystone.resource import core
from keystone.tests.unit.write_order import base

PROVIDERS = provider_api.ProviderAPIs


class PresentValuesTests(base.WriteOrderTestCase):
    """A token shows, and counts by, what its parts are now."""

    def setUp(self):
        super().setUp()
        self.api = PROVIDERS.resource_api
        self.token = self.issue(project_id=self.project_id)
        self.assertAccepted(self.token)
        self.name = uuid.uuid4().hex

    def show(self):
        return self.get(
            '/auth/tokens',
            token=self.token.id,
            headers={'X-Subject-Token': self.token.id},
        ).result['token']

    def test_renamed_user(self):
        self.show()
        PROVIDERS.identity_api.update_user(self.user_id, {'name': self.name})

        self.assertEqual(self.name, self.show()['user']['name'])

    def test_renamed_project(self):
        self.show()
        self.api.update_project(self.project_id, {'name': self.name})

        self.assertEqual(self.name, self.show()['project']['name'])

    def test_renamed_domain(self):
        self.show()
        self.api.update_domain(self.domain_id, {'name': self.name})

        shown = self.show()
        self.assertEqual(self.name, shown['project']['domain']['name'])
        self.assertEqual(self.name, shown['user']['domain']['name'])

    def assertRefusedAfter(self, disable):
        """A reader before the last invalidation makes no difference."""

        def ask():
            with contextlib.suppress(keystone.exception.NotFound):
                self.validate(self.token)

        with self.read_before(core.Manager.get_domain, 'invalidate', ask):
            disable(self.domain_id, {'enabled': False})

        self.assertRefused(self.token, keystone.exception.DomainNotFound)

    def test_disabled_domain(self):
        self.assertRefusedAfter(self.api.update_domain)

    def test_domain_disabled_as_a_project(self):
        self.assertRefusedAfter(self.api.update_project)
