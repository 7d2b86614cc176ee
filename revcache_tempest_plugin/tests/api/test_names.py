# SPDX-License-Identifier: Apache-2.0

"""Names that change while tokens show them."""

from tempest.lib import decorators
from tempest.lib import exceptions

from revcache_tempest_plugin.tests.api import base


class CurrentNamesTest(base.PromiseTestCase):
    promise = 'current_names'

    def setUp(self):
        super().setUp()
        self.inside = self.domain()
        self.place = self.project(domain_id=self.inside)
        self.person = self.member(self.place, domain_id=self.inside)
        self.token = self.log_in(self.person, 'a token', project_id=self.place)
        self.assert_valid(self.token)

    def assert_shown(self, name, *path):
        """Fail unless the token shows a name under these keys."""

        def shows_another():
            value = self.shown(self.token)
            for key in path:
                value = value[key]
            return value != name

        self.assert_settled(
            (f'the {" ".join(path)} of before was shown', shows_another)
        )

    @decorators.idempotent_id('b27e05d8-6c41-4f9a-83d7-f04a1e9c5b36')
    def test_user(self):
        name = self.name()
        self.users.update_user(self.person['user_id'], name=name)
        self.assert_shown(name, 'user', 'name')

    @decorators.idempotent_id('41c9f8a6-0d7e-4b25-9e63-c8b5d2f7a01e')
    def test_project(self):
        name = self.name()
        self.projects.update_project(self.place, name=name)
        self.assert_shown(name, 'project', 'name')

    @decorators.idempotent_id('f50b6d3a-97e1-4c82-ae4d-16d9c7e80b2f')
    def test_domain(self):
        name = self.name()
        self.domains.update_domain(self.inside, name=name)
        self.assert_shown(name, 'user', 'domain', 'name')
        self.assert_shown(name, 'project', 'domain', 'name')

    @decorators.idempotent_id('98d3e7c0-b5f4-46a1-8c2e-5a70f9d1e64b')
    def test_log_in_by_the_name_of_a_domain(self):
        user = self.token.body['user']
        old, new = user['domain']['name'], self.name()

        def leads_in(domain):
            try:
                self.tokens.auth(
                    username=user['name'],
                    password=self.person['password'],
                    user_domain_name=domain,
                )
            except exceptions.Unauthorized:
                return False
            return True

        self.assertTrue(leads_in(old))
        # A domain is a project, and can be renamed as one.
        self.projects.update_project(self.inside, name=new)
        self.assert_settled(
            ("the domain's old name led in", lambda: leads_in(old)),
            ("the domain's new name did not", lambda: not leads_in(new)),
        )
