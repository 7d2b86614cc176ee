# SPDX-License-Identifier: Apache-2.0

import collections
import http.client

import fixtures
import flask

from keystone.common import provider_api
from keystone.models import held_roles
from keystone.models import token_model
from keystone.tests import unit
from keystone.tests.unit.revoke import base
from keystone.token import provider

PROVIDERS = provider_api.ProviderAPIs


class HeldRolesTestCase(base.TokenTestCase):
    """Counts how often roles are resolved: {audit id: times}."""

    def setUp(self):
        super().setUp()
        self.caller = self.issue(project_id=self.project['id'])
        self.subject = self.issue(project_id=self.project['id'])
        self.resolved = collections.Counter()
        resolve = token_model.TokenModel._get_project_roles

        def note(token):
            self.resolved[token.audit_id] += 1
            return resolve(token)

        self.useFixture(
            fixtures.MockPatchObject(
                token_model.TokenModel, '_get_project_roles', note
            )
        )

    def assertResolvedOnce(self, *tokens):
        self.assertEqual(
            {token.audit_id: 1 for token in tokens}, self.resolved
        )


class OnceInARequestTests(HeldRolesTestCase):
    """Each token's roles are resolved once in a request."""

    def ask(self, subject=None, **kwargs):
        self.resolved.clear()
        return self.get(
            '/auth/tokens',
            token=self.caller.id,
            headers={'X-Subject-Token': (subject or self.subject).id},
            **kwargs,
        )

    def test_cached_token(self):
        self.ask()
        self.ask()

        self.assertResolvedOnce(self.caller, self.subject)

    def test_token_that_is_not_cached(self):
        provider.TOKENS_REGION.invalidate()

        self.ask()

        self.assertResolvedOnce(self.caller, self.subject)

    def test_own_token(self):
        self.ask(self.caller)

        self.assertResolvedOnce(self.caller)

    def test_issued_token(self):
        answer = self.v3_create_token(
            self.build_authentication_request(
                user_id=self.user['id'],
                password=self.user['password'],
                project_id=self.project['id'],
            )
        )

        self.assertEqual([1], list(self.resolved.values()))
        (role,) = answer.json['token']['roles']
        self.assertEqual(self.role_id, role['id'])

    def test_role_that_was_added_in_between(self):
        self.ask()
        role = unit.new_role_ref()
        PROVIDERS.role_api.create_role(role['id'], role)
        PROVIDERS.assignment_api.create_grant(
            role['id'], user_id=self.user['id'], project_id=self.project['id']
        )

        roles = self.ask().json['token']['roles']

        self.assertCountEqual(
            [self.role_id, role['id']], [role['id'] for role in roles]
        )

    def test_role_that_was_removed_in_between(self):
        self.ask()
        PROVIDERS.assignment_api.delete_grant(
            self.role_id,
            user_id=self.user['id'],
            project_id=self.project['id'],
        )

        self.ask(expected_status=http.client.UNAUTHORIZED)


class HoldingTests(HeldRolesTestCase):
    """Where roles are held, and for how long."""

    def setUp(self):
        super().setUp()
        request = self.test_request_context()
        request.push()
        self.addCleanup(request.pop)
        self.resolved.clear()

    @held_roles.in_resource
    def twice(self, *tokens):
        """The roles of tokens, asked for twice."""
        return [token.roles for token in [*tokens, *tokens]]

    def test_in_a_resource(self):
        first, second = self.twice(self.subject)

        self.assertResolvedOnce(self.subject)
        self.assertEqual(first, second)
        self.assertEqual([self.role_id], [role['id'] for role in first])

    def test_two_models(self):
        other = self.issue(project_id=self.other_project['id'])
        self.resolved.clear()

        self.twice(self.subject, other)

        self.assertResolvedOnce(self.subject, other)

    def test_in_a_second_resource_of_the_request(self):
        self.twice(self.subject)
        self.twice(self.subject)

        self.assertResolvedOnce(self.subject)

    def test_middleware_and_resource(self):
        @held_roles.in_middleware
        def process(_middleware, request):
            return self.subject.roles

        process(None, flask.request)
        self.twice(self.subject)

        self.assertResolvedOnce(self.subject)

    def test_elsewhere_in_a_request(self):
        self.twice(self.subject)
        self.resolved.clear()

        self.assertEqual(self.subject.roles, self.subject.roles)

        self.assertEqual({self.subject.audit_id: 2}, self.resolved)

    def test_after_an_error(self):
        @held_roles.in_resource
        def fail():
            raise ValueError

        self.assertRaises(ValueError, fail)

        self.assertEqual(self.subject.roles, self.subject.roles)
        self.assertEqual({self.subject.audit_id: 2}, self.resolved)

    def test_who_changes_what_it_got(self):
        @held_roles.in_resource
        def change():
            roles = self.subject.roles
            roles[0]['name'] = 'another'
            roles.clear()
            return self.subject.roles

        self.assertEqual([self.role_id], [role['id'] for role in change()])
        self.assertNotEqual('another', change()[0]['name'])

    def test_model_keeps_none(self):
        before = dict(vars(self.subject))

        self.twice(self.subject)

        self.assertEqual(before, vars(self.subject))
