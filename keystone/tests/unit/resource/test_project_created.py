# Licensed under the Apache License, Version 2.0 (the "License"); you may
# not use this file except in compliance with the License. You may obtain
# a copy of the License at
#
#      http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the
# License for the specific language governing permissions and limitations
# under the License.

from oslo_context import context as oslo_context

from keystone import assignment
from keystone.common import cache
from keystone.common.cache import current_stamps
from keystone.common.cache import stamps
from keystone.common import provider_api
from keystone.tests import unit
from keystone.tests.unit import test_v3

PROVIDERS = provider_api.ProviderAPIs
REGION = assignment.COMPUTED_ASSIGNMENTS_REGION


class ProjectCreatedTests(test_v3.RestfulTestCase):
    """A new project shows in lists, and leaves all else as it was."""

    def look(self):
        """The stamps, as both who asks early and who asks late read them."""
        oslo_context.RequestContext(overwrite=True)
        now = current_stamps.read()
        self.assertEqual(now, stamps.read())
        self.assertIsNotNone(now)
        return now

    def create(self, **values):
        ref = unit.new_project_ref(domain_id=self.domain_id, **values)
        return PROVIDERS.resource_api.create_project(ref['id'], ref)

    def test_stamps_stay(self):
        before = self.look()
        self.create()

        self.assertTrue(before.differs_in_single_values(self.look()))

    def test_stamps_stay_for_a_domain(self):
        before = self.look()
        ref = unit.new_domain_ref()
        PROVIDERS.resource_api.create_domain(ref['id'], ref)

        self.assertTrue(before.differs_in_single_values(self.look()))

    def test_lists_show_it(self):
        PROVIDERS.assignment_api.create_grant(
            self.role_id,
            user_id=self.user_id,
            domain_id=self.domain_id,
            inherited_to_projects=True,
        )
        PROVIDERS.assignment_api.list_projects_for_user(self.user_id)
        made = self.create()
        oslo_context.RequestContext(overwrite=True)

        found = PROVIDERS.assignment_api.list_projects_for_user(self.user_id)
        self.assertIn(made['id'], [project['id'] for project in found])

    def test_the_created_project_is_cached(self):
        made = self.create()
        oslo_context.RequestContext(overwrite=True)

        self.assertEqual(
            made,
            PROVIDERS.resource_api.get_project.get(
                PROVIDERS.resource_api, made['id']
            ),
        )

    def test_other_changes_change_the_stamps(self):
        made = self.create()
        for change, *args in (
            (REGION.invalidate,),
            (
                PROVIDERS.assignment_api.add_role_to_user_and_project,
                self.user_id,
                made['id'],
                self.role_id,
            ),
            (
                PROVIDERS.resource_api.update_project,
                made['id'],
                {'description': 'new'},
            ),
            (PROVIDERS.resource_api.delete_project, made['id']),
        ):
            before = self.look()
            change(*args)
            self.assertNotEqual(before, self.look(), change)

    def test_change_by_a_release_without_the_patch(self):
        def change():
            cache.CACHE_INVALIDATION_REGION.set(
                '<<<region>>>:computed assignments', b'0123456789'
            )

        before = self.look()
        change()
        changed = self.look()
        self.assertNotEqual(before, changed)
        self.assertFalse(before.differs_in_single_values(changed))
