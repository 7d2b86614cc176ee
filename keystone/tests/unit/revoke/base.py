# SPDX-License-Identifier: Apache-2.0

import datetime

from oslo_utils import timeutils

from keystone.common import provider_api
from keystone.common import utils
import keystone.exception
from keystone.models import revoke_model
from keystone.tests import unit
from keystone.tests.unit import test_v3

PROVIDERS = provider_api.ProviderAPIs


class TokenTestCase(test_v3.RestfulTestCase):
    """Issues real tokens, revokes them, and validates them.

    Beside the sample user, project and domain there is a second domain with
    a project in it, and the sample user has a role on both.
    """

    def setUp(self):
        super().setUp()
        self.other_domain = unit.new_domain_ref()
        PROVIDERS.resource_api.create_domain(
            self.other_domain['id'], self.other_domain
        )
        self.other_project = unit.new_project_ref(
            domain_id=self.other_domain['id']
        )
        PROVIDERS.resource_api.create_project(
            self.other_project['id'], self.other_project
        )
        for scope in (
            {'domain_id': self.domain['id']},
            {'domain_id': self.other_domain['id']},
            {'project_id': self.other_project['id']},
        ):
            PROVIDERS.assignment_api.create_grant(
                self.role_id, user_id=self.user['id'], **scope
            )

    def expiry(self, minutes):
        """Naive UTC datetime, in whole seconds, that many minutes ahead."""
        moment = timeutils.utcnow() + datetime.timedelta(minutes=minutes)
        return moment.replace(microsecond=0)

    def issue(self, expires_at=None, user_id=None, **kwargs):
        """Issue a token to the sample user, unscoped unless told."""
        if expires_at is not None:
            expires_at = utils.isotime(expires_at, subsecond=True)
        return PROVIDERS.token_provider_api.issue_token(
            user_id or self.user['id'],
            ['password'],
            expires_at=expires_at,
            **kwargs,
        )

    def issue_chain(self):
        """An unscoped token, and one that was obtained with it."""
        root = self.issue()
        child = self.issue(
            project_id=self.project['id'], parent_audit_id=root.audit_id
        )
        return root, child

    def authenticate(self, **kwargs):
        """Have a token issued through the API.

        :param kwargs: see ``build_authentication_request``; a password is
            the sample user's
        :returns: its model
        """
        if 'password' in kwargs:
            kwargs['user_id'] = self.user['id']
        token_id = self.get_requested_token(
            self.build_authentication_request(**kwargs)
        )
        return PROVIDERS.token_provider_api.validate_token(token_id)

    def delete_token(self, token, query=''):
        """Revoke a token through the API, as the sample user."""
        self.delete(
            f'/auth/tokens{query}', headers={'X-Subject-Token': token.id}
        )

    def revoke(self, **attributes):
        PROVIDERS.revoke_api.revoke(revoke_model.RevokeEvent(**attributes))

    def assertRevoked(self, token):
        self.assertRaises(
            keystone.exception.TokenNotFound,
            PROVIDERS.token_provider_api.validate_token,
            token.id,
        )

    def assertValid(self, token):
        validated = PROVIDERS.token_provider_api.validate_token(token.id)
        self.assertEqual(token.audit_id, validated.audit_id)
