# SPDX-License-Identifier: Apache-2.0

from oslo_serialization import msgpackutils

from keystone.common import provider_api
from keystone.common import utils
from keystone.models import revoke_model
from keystone.tests.unit.revoke import base

PROVIDERS = provider_api.ProviderAPIs


class DomainScopeTests(base.TokenTestCase):
    """An event that names a domain and an expiry keeps both."""

    def setUp(self):
        super().setUp()
        self.expires_at = self.expiry(30)
        self.scope = {
            'domain_id': self.other_domain['id'],
            'expires_at': self.expires_at,
        }

    def test_revokes_that_domain_scoped_token_only(self):
        ours = self.issue(**self.scope)
        same_expiry = [
            self.issue(self.expires_at, domain_id=self.domain['id']),
            self.issue(self.expires_at, project_id=self.project['id']),
            self.issue(self.expires_at, project_id=self.other_project['id']),
            self.issue(self.expires_at),
        ]
        later = self.issue(self.expiry(31), domain_id=self.other_domain['id'])

        self.revoke(**self.scope)

        self.assertRevoked(ours)
        for token in [*same_expiry, later]:
            self.assertValid(token)

    def test_does_not_reach_users_of_the_domain(self):
        token = self.issue(self.expires_at)

        self.revoke(
            domain_id=self.user['domain_id'], expires_at=self.expires_at
        )

        self.assertValid(token)

    def test_is_read_back_from_the_database_as_written(self):
        written = revoke_model.RevokeEvent(**self.scope)
        PROVIDERS.revoke_api.revoke(written)

        (read,) = PROVIDERS.revoke_api.driver.list_events()

        self.assertEqual(vars(written), vars(read))
        self.assertEqual(self.other_domain['id'], read.domain_scope_id)

    def test_is_read_back_from_the_cache_as_written(self):
        written = revoke_model.RevokeEvent(**self.scope)

        read = msgpackutils.loads(msgpackutils.dumps(written))

        self.assertEqual(vars(written), vars(read))

    def test_is_listed_with_its_domain_under_one_name(self):
        self.revoke(**self.scope)
        expected = {
            'domain_scope_id': self.other_domain['id'],
            'expires_at': utils.isotime(self.expires_at),
        }

        for answer in ('from the database', 'from the cache'):
            (event,) = self.get('/OS-REVOKE/events').json_body['events']
            del event['issued_before'], event['revoked_at']
            self.assertEqual(expected, event, answer)

    def test_domain_event_without_expiry_is_listed_as_before(self):
        self.revoke(domain_id=self.other_domain['id'])

        (event,) = self.get('/OS-REVOKE/events').json_body['events']

        self.assertEqual(self.other_domain['id'], event['domain_id'])
        self.assertNotIn('domain_scope_id', event)
