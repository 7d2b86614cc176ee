# SPDX-License-Identifier: Apache-2.0

"""Tokens of a user, and for a place, that is deleted."""

from tempest.lib import decorators

from revcache_tempest_plugin.tests.api import base


class DeletionTest(base.PromiseTestCase):
    promise = 'deletion'

    def setUp(self):
        super().setUp()
        self.kept = self.project()
        self.person = self.member(self.kept)
        self.other = self.log_in(
            self.person, 'a token for another project', project_id=self.kept
        )

    @decorators.idempotent_id('7b0f4e62-93ac-4d5e-b8c1-e6a2d1f05397')
    def test_user(self):
        user = self.member(self.kept)
        doomed = [
            self.log_in(user, "the user's unscoped token"),
            self.log_in(user, "the user's token", project_id=self.kept),
        ]
        self.assert_valid(*doomed, self.other)
        self.users.delete_user(user['user_id'])
        self.assert_refused(*doomed)
        self.assert_valid(self.other)

    @decorators.idempotent_id('d8135ca9-4f27-4be0-a9d6-0c5e78b2f134')
    def test_project(self):
        doomed = self.token_for(place := self.project())
        self.assert_valid(doomed, self.other)
        self.projects.delete_project(place)
        self.assert_refused(doomed)
        self.assert_valid(self.other)

    @decorators.idempotent_id('19e6d0b4-a87f-4c33-95b2-f7d04e1c6a85')
    def test_domain(self):
        domain = self.domain()
        doomed = self.token_for(self.project(domain_id=domain))
        self.assert_valid(doomed, self.other)
        self.domains.update_domain(domain, enabled=False)
        self.domains.delete_domain(domain)
        self.assert_refused(doomed)
        self.assert_valid(self.other)

    def token_for(self, project):
        """A token for a project that the user comes to."""
        self.roles.create_user_role_on_project(
            project, self.person['user_id'], self.person['role_id']
        )
        return self.log_in(self.person, 'a token for it', project_id=project)
