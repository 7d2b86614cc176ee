# Licensed under the Apache License, Version 2.0 (the "License"); you may
# not use this file except in compliance with the License. You may obtain
# a copy of the License at
#
#      http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the
# License for the specific language governing permissions and limitations
# under the License.

import http.client

from keystone.common.cache import process_cache
from keystone.tests.unit.cache import base
from keystone.tests.unit.ksfixtures import shared_cache
from keystone.tests.unit import test_v3


class RoundTripsTests(test_v3.RestfulTestCase):
    """What a request costs, in round trips to the cache server.

    The server is a dictionary in memory, and the calls to it are counted.
    """

    def setUp(self):
        super().setUp()
        self.useFixture(shared_cache.SharedCache(self.config_fixture))
        # Who prunes revocation events is asked of a server that is there.
        self.config_fixture.config(group='revoke', prune_interval=0)
        process_cache.clear()
        self.caller = self.get_scoped_token()
        self.trips = self.useFixture(base.RoundTrips())

    def count(self, method, token, expected_status):
        """The calls that one request about a token makes."""
        del self.trips.calls[:]
        method(
            '/auth/tokens',
            token=self.caller,
            headers={'X-Subject-Token': token},
            expected_status=expected_status,
        )
        return self.trips.names

    def validate(self, token):
        return self.count(self.get, token, http.client.OK)

    def revoke(self, token):
        return self.count(self.delete, token, http.client.NO_CONTENT)

    def test_warm_validation(self):
        token = self.get_scoped_token()
        self.validate(token)
        self.validate(token)
        self.assertEqual(['get_multi'], self.validate(token))

    def test_validation_after_a_revocation(self):
        tokens = [self.get_scoped_token() for _ in range(2)]
        for token in (*tokens, *tokens):
            self.validate(token)
        self.revoke(tokens[0])
        self.assertEqual(['get_multi'], self.validate(tokens[1]))

    def test_validation_of_another_token(self):
        for _ in range(2):
            self.validate(self.get_scoped_token())
        token = self.get_scoped_token()
        # What all tokens need; the token itself is not in the cache.
        self.assertEqual(['get_multi'], self.validate(token))

    def test_warm_validation_without_copies(self):
        self.config_fixture.config(group='process_cache', enabled=False)
        token = self.get_scoped_token()
        self.validate(token)
        self.validate(token)
        shared_cache.forget_callers()
        names = self.validate(token)
        self.assertEqual(1, names.count('get_multi'))
        self.assertLess(5, names.count('get'))

    def test_revocation(self):
        token = self.get_scoped_token()
        self.validate(token)
        self.validate(token)
        # The stamps; a change for each event, if they are recorded one by
        # one.
        first, *changes = self.revoke(token)
        self.assertEqual('get_multi', first)
        self.assertIn(changes, (['set'], ['set', 'set']))
