# SPDX-License-Identifier: Apache-2.0

import fixtures

from keystone.api._shared import reading_ahead
from keystone.tests.unit.credential import s3_base
from keystone.tests.unit.performance.cache import test_round_trips


class ReadAheadWorkTests(test_round_trips.RoundTripsMixin, s3_base.S3TestCase):
    """Round trips of requests like one that was there before."""

    def setUp(self):
        super().setUp()
        self.useFixture(
            fixtures.MockPatchObject(
                reading_ahead, 'READ_AHEAD', reading_ahead.ReadAhead()
            )
        )

    def count(self, ask):
        """The round trips of a request when all is cached."""
        for _ in range(3):
            ask()
        del self.trips[:]
        ask()
        return list(self.trips)

    def log_in(self, **asked):
        body = self.build_authentication_request(
            project_id=self.project_id, **asked
        )
        return self.v3_create_token(body).headers['X-Subject-Token']

    def test_signed_request(self):
        # The facts of the caller's token, and what is about the key; together
        # where there is a record of the key.
        found = self.count(self.ask)
        self.assertIn(found, (['get_many'], ['get_many'] * 2))

    def test_password(self):
        found = self.count(
            lambda: self.log_in(
                user_id=self.user['id'], password=self.user['password']
            )
        )

        # The record of the new token.
        self.assertEqual(['get_many', 'set'], found)

    def test_token_for_a_token(self):
        parent = self.get_scoped_token()

        found = self.count(lambda: self.log_in(token=parent))

        # The project, and the facts of the parent.
        self.assertEqual(['get_many'] * 2 + ['set'], found)
