# SPDX-License-Identifier: Apache-2.0

"""Tokens that are revoked by name: one, a chain, or all of a user's."""

from tempest.lib import decorators
from tempest.lib import exceptions

from revcache_tempest_plugin.tests.api import base


class TokenRevocationTest(base.PromiseTestCase):
    promise = 'token_revocation'

    def setUp(self):
        super().setUp()
        self.place = self.project()
        self.person = self.member(self.place)

    def tokens_of_one_user(self):
        return [
            self.log_in(self.person, name, project_id=self.place)
            for name in ('the revoked token', "the user's other token")
        ]

    @decorators.idempotent_id('b41f5a40-4d24-4d3c-9bd5-1c50a2a2b6f1')
    def test_revoked_token_is_refused(self):
        revoked, other = self.tokens_of_one_user()
        self.assert_valid(revoked, other)
        self.identity.delete_token(revoked.id)
        self.assert_refused(revoked)
        self.assert_valid(other)

    @decorators.idempotent_id('0e1c5d52-6a8b-4f5e-8d21-2f3c55d7a0c2')
    def test_token_revoked_by_its_own_user_is_refused(self):
        revoked, other = self.tokens_of_one_user()
        headers = {'X-Auth-Token': revoked.id, 'X-Subject-Token': revoked.id}
        response, _body = self.tokens.raw_request(
            self.tokens.auth_url, 'DELETE', headers=headers
        )
        self.assertEqual(204, response.status)
        self.assert_refused(revoked)
        self.assert_valid(other)

    @decorators.idempotent_id('7a3e0f9d-5f10-4f0b-93dd-4a8f1d9f1e73')
    def test_revoked_token_gives_no_new_token(self):
        revoked, other = self.tokens_of_one_user()
        self.identity.delete_token(revoked.id)
        self.assert_refused(revoked)
        try:
            self.rescope(revoked, 'a new token', project_id=self.place)
        except (exceptions.Unauthorized, exceptions.IdentityError):
            pass
        else:
            self.broken('a new token was issued for the revoked one')
        made = self.rescope(other, 'a new token', project_id=self.place)
        self.assert_valid(made)

    @decorators.idempotent_id('c0a4b7f2-3b59-47f3-9f53-6fb2a6cf0d94')
    def test_revoked_token_opens_nothing(self):
        revoked, other = self.tokens_of_one_user()
        self.identity.delete_token(revoked.id)
        self.assert_refused(revoked)
        status, _body = self.call('GET', '/auth/projects', revoked)
        if status != 401:
            self.broken(f'a request with the revoked token got {status}')
        status, _body = self.call('GET', '/auth/projects', other)
        self.assertEqual(200, status)


class ChainRevocationTest(base.PromiseTestCase):
    promise = 'chain_revocation'

    @decorators.idempotent_id('4c7d2f38-9e0b-4b4e-8f2a-58c1b60d9a15')
    def test_tokens_made_from_a_revoked_token_are_refused(self):
        first, second = self.project(), self.project()
        person = self.member(first, second)
        root = self.log_in(person, 'the token of the login')
        made = [
            self.rescope(root, 'a token made from it', project_id=project)
            for project in (first, second)
        ]
        other = self.log_in(person, 'the token of another login')
        unrelated = self.rescope(
            other, 'a token made from another login', project_id=first
        )
        self.assert_valid(root, *made, other, unrelated)
        self.identity.delete_token(root.id)
        self.assert_refused(*made, root)
        self.assert_valid(other, unrelated)

    @decorators.idempotent_id('ab0d7d1e-2b77-4b4f-a5e5-7f0c9be2d326')
    def test_revoking_a_made_token_spares_the_rest(self):
        first, second = self.project(), self.project()
        person = self.member(first, second)
        root = self.log_in(person, 'the token of the login')
        revoked, sibling = (
            self.rescope(root, name, project_id=project)
            for name, project in (
                ('the revoked token', first),
                ('another token of the same login', second),
            )
        )
        self.identity.delete_token(revoked.id)
        self.assert_refused(revoked)
        self.assert_valid(root, sibling)


class UserTokensRevocationTest(base.PromiseTestCase):
    promise = 'user_tokens_revocation'

    @decorators.idempotent_id('5d9e8c61-70a4-4a53-b1a9-0d5ef3c1b837')
    def test_all_tokens_of_a_user_are_refused(self):
        place = self.project()
        person, neighbour = self.member(place), self.member(place)
        revoked = [
            self.log_in(person, "the user's unscoped token"),
            self.log_in(person, "the user's token", project_id=place),
        ]
        other = self.log_in(
            neighbour, "another user's token", project_id=place
        )
        self.assert_valid(*revoked, other)
        response, _body = self.users.delete(
            f'users/{person["user_id"]}/tokens'
        )
        self.assertEqual(204, response.status)
        self.assert_refused(*revoked)
        self.assert_valid(other)
        self.next_second()
        self.assert_valid(
            self.log_in(person, 'a token issued later', project_id=place)
        )
