# SPDX-License-Identifier: Apache-2.0

import datetime
import uuid

import fixtures
from oslo_utils import timeutils

from keystone.common import provider_api
import keystone.conf
from keystone import exception
from keystone.revoke.backends import base as backends
from keystone.tests.unit.revoke import base

CONF = keystone.conf.CONF
PROVIDERS = provider_api.ProviderAPIs

HOUR = 60 * 60
DAY = 24 * HOUR


class RetentionTests(base.TokenTestCase):
    """An event outlives every token it revokes."""

    def setUp(self):
        super().setUp()
        # Of the clocks only Keystone's is moved: a connection pool that sees
        # an hour pass closes the connection that holds the test's database.
        # The other clock dates the tokens: it must not overtake this one, or
        # they would be newer than their revocation.
        self.now = self.expiry(1)
        self.useFixture(
            fixtures.MockPatchObject(timeutils, 'utcnow', lambda: self.now)
        )

    def revoke_at_the_start(self):
        """Issue two tokens and revoke the first."""
        token, witness = self.issue(), self.issue()
        PROVIDERS.token_provider_api.revoke_token(token.id)
        return token, witness

    def assertRevokedAfter(self, seconds, token, witness):
        """Look at a revoked token once old events have been pruned.

        The witness is as old and was not revoked: it is still accepted.
        """
        self.now += datetime.timedelta(seconds=seconds)
        PROVIDERS.revoke_api.revoke_by_user(uuid.uuid4().hex)
        window = CONF.token.allow_expired_window
        validate = PROVIDERS.token_provider_api.validate_token
        validate(witness.id, window_seconds=window)
        self.assertRaises(
            exception.TokenNotFound, validate, token.id, window_seconds=window
        )

    def test_past_the_expiry(self):
        tokens = self.revoke_at_the_start()

        self.assertRevokedAfter(5600, *tokens)

    def test_to_the_end_of_the_allow_expired_window(self):
        tokens = self.revoke_at_the_start()

        end = CONF.token.expiration + CONF.token.allow_expired_window
        self.assertRevokedAfter(end - 1, *tokens)

    def test_past_a_lowered_expiration(self):
        self.config_fixture.config(group='token', allow_expired_window=0)
        self.config_fixture.config(group='token', expiration=DAY)
        tokens = self.revoke_at_the_start()
        self.config_fixture.config(group='token', expiration=HOUR)

        self.assertRevokedAfter(DAY - 1, *tokens)

    def test_past_an_expiration_lowered_from_far_above(self):
        self.config_fixture.config(
            group='revoke', longest_token_lifetime=10 * DAY
        )
        self.config_fixture.config(group='token', expiration=10 * DAY)
        tokens = self.revoke_at_the_start()
        self.config_fixture.config(group='token', expiration=HOUR)

        self.assertRevokedAfter(10 * DAY - 1, *tokens)

    def test_cutoff(self):
        def kept(expiration, longest, window, buffer):
            self.config_fixture.config(
                group='token',
                expiration=expiration,
                allow_expired_window=window,
            )
            self.config_fixture.config(
                group='revoke',
                longest_token_lifetime=longest,
                expiration_buffer=buffer,
            )
            cutoff = backends.revoked_before_cutoff_time()
            return (self.now - cutoff).total_seconds()

        self.assertEqual(2 + 30 + 400, kept(1, 2, 30, 400))
        self.assertEqual(3 + 30 + 400, kept(3, 2, 30, 400))
        # A window below zero ends tokens early; events are kept even so.
        self.assertEqual(3 + 400, kept(3, 2, -30, 400))

    def test_default(self):
        cutoff = backends.revoked_before_cutoff_time()

        self.assertEqual(
            datetime.timedelta(days=4, minutes=30), self.now - cutoff
        )
