# SPDX-License-Identifier: Apache-2.0

from keystone import assignment
from keystone.common import cache
from keystone.common import provider_api
from keystone.tests import unit
from keystone.tests.unit.write_order import base

PROVIDERS = provider_api.ProviderAPIs


class ListingTests(base.WriteOrderTestCase):
    """Grants are listed while something that they name is deleted."""

    def setUp(self):
        super().setUp()
        self.resources = PROVIDERS.resource_api
        self.some_project = unit.new_project_ref(domain_id=self.domain_id)
        self.resources.create_project(
            self.some_project['id'], self.some_project
        )
        self.some_role = unit.new_role_ref()
        PROVIDERS.role_api.create_role(self.some_role['id'], self.some_role)
        for role, scope in (
            (self.role_id, {'project_id': self.some_project['id']}),
            (self.some_role['id'], {'domain_id': self.domain_id}),
        ):
            PROVIDERS.assignment_api.create_grant(
                role, user_id=self.user['id'], **scope
            )
        self.domain_token = self.get_requested_token(
            self.build_authentication_request(
                user_id=self.user['id'],
                password=self.user['password'],
                domain_id=self.domain_id,
            )
        )

    def listed(self, query='', write=None, **kwargs):
        """The user's grants, as (role, scope) ids, listed across a write."""
        found = []

        def read():
            path = f'/role_assignments?user.id={self.user["id"]}&{query}'
            found.extend(self.get(path, **kwargs).result['role_assignments'])

        if write is None:
            read()
        else:
            self.write_amid(write, read)
        return {
            (grant['role']['id'], scope['id'])
            for grant in found
            for scope in grant['scope'].values()
        }

    def write_amid(self, write, read):
        """Write when a reader has the grants, and nothing more yet."""
        # What was looked up before is not at hand.
        cache.CACHE_REGION.invalidate()
        assignment.COMPUTED_ASSIGNMENTS_REGION.invalidate()
        writes = [write]

        def list_then_write(ask, *args, **kwargs):
            answer = ask(*args, **kwargs)
            # The reader's own roles are asked for by how they are inherited.
            if writes and kwargs['inherited_to_projects'] is None:
                self.elsewhere(writes.pop())
            return answer

        driver = PROVIDERS.assignment_api.driver
        with self.replaced(driver, 'list_role_assignments', list_then_write):
            read()
        self.assertEqual([], writes)

    def assertLeftOut(self, gone, query, write, **kwargs):
        """Of what was listed before, only this is not listed any more."""
        before = self.listed(query, **kwargs)
        self.assertLess(gone, before)
        self.assertEqual(before - gone, self.listed(query, write, **kwargs))

    def delete_other_domain(self):
        domain_id = self.other_domain['id']
        self.resources.update_domain(domain_id, {'enabled': False})
        self.resources.delete_domain(domain_id)

    def test_domain(self):
        self.assertLeftOut(
            {
                (self.role_id, self.other_domain['id']),
                (self.role_id, self.other_project['id']),
            },
            'include_names',
            self.delete_other_domain,
        )

    def test_project(self):
        self.assertLeftOut(
            {(self.role_id, self.some_project['id'])},
            'include_names',
            lambda: self.resources.delete_project(self.some_project['id']),
        )

    def test_role(self):
        self.assertLeftOut(
            {(self.some_role['id'], self.domain_id)},
            'include_names',
            lambda: PROVIDERS.role_api.delete_role(self.some_role['id']),
        )

    def test_project_and_reader_of_its_domain(self):
        self.assertLeftOut(
            {(self.role_id, self.some_project['id'])},
            '',
            lambda: self.resources.delete_project(self.some_project['id']),
            token=self.domain_token,
        )
