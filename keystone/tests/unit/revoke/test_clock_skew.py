# SPDX-License-Identifier: Apache-2.0

import datetime

import freezegun
from oslo_utils import timeutils

from keystone.common import provider_api
from keystone.models import token_model
from keystone.revoke import token_events
from keystone.tests import unit
from keystone.tests.unit.revoke import base

PROVIDERS = provider_api.ProviderAPIs

SECOND = datetime.timedelta(seconds=1)


class ClockSkewTests(base.TokenTestCase):
    """A revoked token stays revoked, whatever the nodes' clocks say."""

    def setUp(self):
        super().setUp()
        self.now = timeutils.utcnow().replace(microsecond=0)

    def clock(self, seconds):
        """Run as a node whose clock is that far ahead."""
        return freezegun.freeze_time(self.now + seconds * SECOND)

    def delete(self, token, **kwargs):
        PROVIDERS.token_provider_api.revoke_token(token.id, **kwargs)

    def test_token_of_a_node_ahead(self):
        with self.clock(2):
            token = self.issue()

        with self.clock(0):
            self.delete(token)
            self.assertRevoked(token)

    def test_token_of_a_node_ahead_without_its_chain(self):
        with self.clock(2):
            token = self.issue()

        with self.clock(0):
            self.delete(token, revoke_chain=False)
            self.assertRevoked(token)

    def test_token_rescoped_on_a_node_ahead(self):
        with self.clock(0):
            root = self.issue()
        with self.clock(2):
            rescoped = self.issue(
                project_id=self.project['id'], parent_audit_id=root.audit_id
            )

        with self.clock(1):
            self.delete(root)
            self.assertRevoked(root)
            self.assertRevoked(rescoped)

    def test_token_rescoped_while_its_root_was_being_revoked(self):
        with self.clock(0):
            root = self.issue()
            self.delete(root)

        # The rescope had found the root valid, and issues its token late.
        with self.clock(1):
            rescoped = self.issue(
                project_id=self.project['id'],
                parent_audit_id=root.audit_id,
                expires_at=timeutils.normalize_time(
                    timeutils.parse_isotime(root.expires_at)
                ),
            )
            self.assertRevoked(rescoped)

    def test_token_of_a_node_behind(self):
        with self.clock(-2):
            token = self.issue()

        with self.clock(0):
            self.delete(token)
            self.assertRevoked(token)

    def test_other_tokens_of_the_user_stay(self):
        with self.clock(0):
            revoked = self.issue()
            older = self.issue()
            self.delete(revoked)
        with self.clock(1):
            newer = self.issue()

            self.assertValid(older)
            self.assertValid(newer)


class IssuedBeforeTests(unit.BaseTestCase):
    """How far the events reach, in whole seconds."""

    def assertReach(self, expected, issued_at, expires_at):
        token = token_model.TokenModel()
        token.audit_id = 'a'
        token.issued_at = issued_at
        token.expires_at = expires_at
        with freezegun.freeze_time('2026-01-01T12:00:00.700000'):
            of_token = token_events.of_token(token)
            of_chain = token_events.of_chain(token)
        self.assertEqual(('a', None), (of_token.audit_id, of_chain.audit_id))
        self.assertEqual('a', of_chain.audit_chain_id)
        for event in (of_token, of_chain):
            self.assertEqual(expected, str(event.issued_before))
            self.assertEqual('2026-01-01 12:00:00', str(event.revoked_at))

    def test_to_the_expiry(self):
        self.assertReach(
            '2026-01-01 13:00:00',
            '2026-01-01T11:00:00.000000Z',
            '2026-01-01T13:00:00.000000Z',
        )

    def test_to_now_after_the_expiry(self):
        self.assertReach(
            '2026-01-01 12:00:00',
            '2026-01-01T10:00:00.000000Z',
            '2026-01-01T11:00:00.000000Z',
        )

    def test_to_the_time_of_issue_rounded_up(self):
        self.assertReach(
            '2026-01-01 12:00:06',
            '2026-01-01T12:00:05.000001Z',
            '2026-01-01T12:00:05.000000Z',
        )
