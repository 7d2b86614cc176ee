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

from keystone.common.cache import stamps
from keystone.tests.unit.cache import base


class StampTripsTests(base.CacheTestCase):
    """What the ids of the regions cost, in round trips to the server."""

    def setUp(self):
        super().setUp()
        stamps.read()
        self.trips = self.useFixture(base.RoundTrips())
        self.begin()

    def ids(self):
        regions = (
            self.region, self.other_region, self.tokens, self.revocations,
        )  # fmt: skip
        return [self.id_of(region) for region in regions]

    def test_all_ids_of_a_request(self):
        for _ in range(10):
            self.ids()
            stamps.read()
        self.assertEqual(['get_multi'], self.trips.names)

    def test_switched_off(self):
        self.config_fixture.config(group='cache_stamps', together=False)
        for _ in range(10):
            self.ids()
            stamps.read()
        self.assertEqual(['get'] * 4, self.trips.names)

    def test_server_that_was_emptied(self):
        self.server.clear()
        self.ids()
        self.assertEqual(
            ['get_multi', 'set_multi', 'get_multi'], self.trips.names
        )

    def test_invalidation(self):
        self.ids()
        self.region.invalidate()
        self.ids()
        self.assertEqual(['get_multi', 'set'], self.trips.names)

    def test_single_value(self):
        self.ids()
        self.region.delete('key')
        self.tokens.delete('key')
        self.assertEqual(
            ['get_multi', 'delete', 'set', 'delete'], self.trips.names
        )
