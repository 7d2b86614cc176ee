# SPDX-License-Identifier: Apache-2.0

"""Tokens of users who are disabled or change their password."""

from tempest.lib import decorators
from tempest.lib.common.utils import data_utils

from revcache_tempest_plugin.tests.api import base


class UserTestCase(base.PromiseTestCase):
    """Two users with a token each, and an unscoped one of the first."""

    promise = None

    def setUp(self):
        super().setUp()
        self.place = self.project()
        self.person = self.member(self.place)
        self.doomed = [
            self.log_in(self.person, "the user's unscoped token"),
            self.log_in(
                self.person, "the user's token", project_id=self.place
            ),
        ]
        self.other = self.log_in(
            self.member(self.place),
            "another user's token",
            project_id=self.place,
        )
        self.assert_valid(*self.doomed, self.other)

    def assert_only_new_tokens_are_valid(self, user):
        self.next_second()
        self.assert_valid(
            self.log_in(user, 'a token issued later', project_id=self.place)
        )
        self.assert_refused(*self.doomed)


class UserDisableTest(UserTestCase):
    promise = 'user_disable'

    @decorators.idempotent_id('1b8d4f73-c6a5-4e38-8e9a-3dc2f5a0e66a')
    def test_disable_then_enable(self):
        user_id = self.person['user_id']
        self.users.update_user(user_id, enabled=False)
        self.assert_refused(*self.doomed)
        self.assert_valid(self.other)
        self.users.update_user(user_id, enabled=True)
        self.assert_only_new_tokens_are_valid(self.person)


class PasswordChangeTest(UserTestCase):
    promise = 'password_change'

    @decorators.idempotent_id('d6f10a2c-45be-4a9d-9d67-b8e1c3f4a77b')
    def test_password_set_by_an_admin(self):
        password = data_utils.rand_password()
        self.users.update_user(self.person['user_id'], password=password)
        self.assert_refused(*self.doomed)
        self.assert_valid(self.other)
        self.assert_only_new_tokens_are_valid(
            {**self.person, 'password': password}
        )

    @decorators.idempotent_id('2f7c9b80-e35d-4c1f-a8b4-50d6e9c7b88c')
    def test_password_changed_by_its_user(self):
        password = data_utils.rand_password()
        status, _body = self.call(
            'POST',
            f'/users/{self.person["user_id"]}/password',
            self.doomed[-1],
            body={
                'user': {
                    'original_password': self.person['password'],
                    'password': password,
                }
            },
        )
        self.assertEqual(204, status)
        self.assert_refused(*self.doomed)
        self.assert_valid(self.other)
        self.assert_only_new_tokens_are_valid(
            {**self.person, 'password': password}
        )
