# SPDX-License-Identifier: Apache-2.0

"""Tokens that are validated with allow_expired."""

import datetime
import time

from oslo_utils import timeutils
from tempest.lib import decorators
from tempest.lib import exceptions

from revcache_tempest_plugin.tests.api import base

# Tokens of an application credential that expires soon do as well: the tests
# need not wait for [token] expiration.
LIFETIME = datetime.timedelta(seconds=6)


class AllowExpiredTest(base.PromiseTestCase):
    promise = 'allow_expired'

    def setUp(self):
        super().setUp()
        self.person = self.member(place := self.project())
        self.plain = self.log_in(self.person, 'a token', project_id=place)

    def short_lived(self):
        """A token that soon expires, and when it has, by our clock."""
        # The server's own time, taken from what it has just issued.
        now = time.monotonic()
        issued = timeutils.parse_isotime(
            self.log_in(self.person, 'a token').body['issued_at']
        )
        credential = self.application_credential(
            self.person,
            self.plain,
            expires_at=(issued + LIFETIME).strftime('%Y-%m-%dT%H:%M:%S.%fZ'),
        )
        token = self.log_in_with(credential, 'the expired token')
        return token, now + LIFETIME.total_seconds() + 2

    def expire(self, moment):
        time.sleep(max(0, moment - time.monotonic()))

    @decorators.idempotent_id('a5d0c3f1-7e92-4b68-9c1d-20f4b87e3a61')
    def test_revoked_after_it_expired(self):
        token, moment = self.short_lived()
        self.assert_valid(token)
        self.expire(moment)
        self.assert_refused(token)
        self.assert_valid(token, allow_expired=True)
        try:
            self.identity.delete_token(token.id)
        except exceptions.NotFound:
            self.broken('an expired token that is accepted was not revoked')
        self.assert_refused(token, allow_expired=True)

    @decorators.idempotent_id('3c7b1e9f-d045-4a2c-8f6e-b19d5a70c482')
    def test_revoked_before_it_expired(self):
        token, moment = self.short_lived()
        self.assert_valid(token, allow_expired=True)
        self.identity.delete_token(token.id)
        self.assert_refused(token)
        self.expire(moment)
        self.assert_refused(token, allow_expired=True)
