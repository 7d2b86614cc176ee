# SPDX-License-Identifier: Apache-2.0

import http.client
import uuid

from keystone.api import users
from keystone import assignment
from keystone.common import authorization
from keystone.common import cache
from keystone.common import provider_api
from keystone import revoke
from keystone.tests import unit
from keystone.tests.unit.revoke import base
from keystone.token import provider

PROVIDERS = provider_api.ProviderAPIs
REGIONS = (
    cache.CACHE_REGION,
    assignment.COMPUTED_ASSIGNMENTS_REGION,
    provider.TOKENS_REGION,
    revoke.REVOKE_REGION,
)


class RefusalTests(base.TokenTestCase):
    """A request that is refused writes no event and drops nothing cached."""

    def setUp(self):
        super().setUp()
        user = unit.new_user_ref(domain_id=self.domain_id)
        self.other = PROVIDERS.identity_api.create_user(user)['id']
        self.role = unit.new_role_ref()
        PROVIDERS.role_api.create_role(self.role['id'], self.role)
        PROVIDERS.assignment_api.create_grant(
            self.role['id'], user_id=self.other, project_id=self.project_id
        )

    def issue_to_other(self):
        return self.issue(user_id=self.other, project_id=self.project_id)

    def state(self):
        """Ids of the cache's regions, and the events there are."""
        ids = [
            region.region_invalidator._region_manager.region_id
            for region in REGIONS
        ]
        events = PROVIDERS.revoke_api.driver.list_events()
        return ids, [event.to_dict() for event in events]

    def assertRefused(self, statuses, method, path, **kwargs):
        before = self.state()

        response = self.v3_request(
            path, method=method, expected_status='*', **kwargs
        )

        self.assertIn(response.status_int, statuses, (method, path))
        self.assertEqual(before, self.state(), (method, path))

    def writes(self):
        """Requests that would write if authorized."""
        body = {'user': {'enabled': False}}
        tokens = ('DELETE', f'/users/{self.user_id}/tokens', None)
        return (
            # Earlier releases do not have it.
            *([tokens] if hasattr(users, 'UserTokensResource') else ()),
            ('PATCH', f'/users/{self.user_id}', body),
            ('DELETE', f'/users/{self.user_id}', None),
            ('DELETE', f'/roles/{self.role_id}', None),
            ('DELETE', f'/projects/{self.project_id}', None),
            (
                'DELETE',
                f'/projects/{self.project_id}/users/{self.user_id}'
                f'/roles/{self.role_id}',
                None,
            ),
            ('DELETE', f'/OS-OAUTH1/consumers/{uuid.uuid4().hex}', None),
            (
                'DELETE',
                f'/users/{self.user_id}/OS-OAUTH1/access_tokens/'
                f'{uuid.uuid4().hex}',
                None,
            ),
        )

    def check_dead(self, token_id):
        """Use a token that is not valid in every way there is."""
        subject = {authorization.SUBJECT_TOKEN_HEADER: token_id}
        for method in ('GET', 'HEAD', 'DELETE'):
            self.assertRefused(
                {http.client.NOT_FOUND}, method, '/auth/tokens',
                headers=subject,
            )  # fmt: skip
            self.assertRefused(
                {http.client.UNAUTHORIZED}, method, '/auth/tokens',
                headers=subject, token=token_id,
            )  # fmt: skip
        self.assertRefused(
            {http.client.UNAUTHORIZED, http.client.NOT_FOUND},
            'POST',
            '/auth/tokens',
            noauth=True,
            body=self.build_authentication_request(token=token_id),
        )
        for method, path, body in self.writes():
            self.assertRefused(
                {http.client.UNAUTHORIZED, http.client.NOT_FOUND},
                method, path, body=body, token=token_id,
            )  # fmt: skip

    def test_revoked_token(self):
        token = self.issue_to_other()
        PROVIDERS.token_provider_api.revoke_token(token.id)

        self.check_dead(token.id)

    def test_forged_token(self):
        self.check_dead(self.issue_to_other().id[:-8] + 'AAAAAAAA')

    def test_disabled_user(self):
        token = self.issue_to_other()
        self.patch(f'/users/{self.other}', body={'user': {'enabled': False}})

        self.check_dead(token.id)

    def test_user_disabled_elsewhere(self):
        """The first refusal may write an event, later ones do not."""
        tokens = [self.issue_to_other(), self.issue_to_other()]
        PROVIDERS.identity_api.driver.update_user(
            self.other, {'enabled': False}
        )
        PROVIDERS.identity_api.get_user.invalidate(
            PROVIDERS.identity_api, self.other
        )
        subject = {authorization.SUBJECT_TOKEN_HEADER: tokens[0].id}
        self.get('/auth/tokens', headers=subject, expected_status='*')

        for token in tokens:
            before = self.state()
            subject = {authorization.SUBJECT_TOKEN_HEADER: token.id}
            self.get('/auth/tokens', headers=subject, expected_status='*')
            self.assertEqual(before, self.state())

    def test_without_a_role_for_it(self):
        token = self.issue_to_other()

        for method, path, body in self.writes():
            self.assertRefused(
                {http.client.FORBIDDEN, http.client.NOT_FOUND},
                method, path, body=body, token=token.id,
            )  # fmt: skip

    def test_wrong_password(self):
        self.assertRefused(
            {http.client.UNAUTHORIZED},
            'POST',
            '/auth/tokens',
            noauth=True,
            body=self.build_authentication_request(
                user_id=self.user_id, password=uuid.uuid4().hex
            ),
        )
