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

import random

import sqlalchemy

from keystone.revoke.backends import incremental
from keystone.tests.unit.revoke import replica_base


class KnownRowsTests(replica_base.ReplicaTestCase):
    """A read leaves out the rows that are known, and no others."""

    def setUp(self):
        super().setUp()
        now = replica_base.NOW
        with self.engine.begin() as connection:
            connection.execute(
                self.table.insert(),
                [
                    {'id': number, 'revoked_at': now, 'issued_before': now}
                    for number in range(1, 301)
                ],
            )

    def read(self, known):
        found = []
        self.driver.read_events(
            replica_base.NOW, found.extend, known, replica_base.NOW
        )
        return {row.id for row in found}

    def test_each_set_of_ids(self):
        everything = set(range(1, 301))
        chosen = random.Random(1)
        run = incremental._RUN
        sets = [
            {1},
            {300},
            {301},
            everything,
            everything - {150},
            everything - {1, 300},
            set(range(1, 301, 2)),
            set(range(1, 301, 3)),
            set(range(10, 10 + run - 1)),
            set(range(10, 10 + run)),
            set(range(10, 10 + run + 1)),
            set(range(1, run)) | set(range(run + 1, 3 * run)),
            {5, 7, *range(20, 20 + 2 * run), 290, 291},
        ]
        for share in (0.1, 0.5, 0.9, 0.98, 0.99):
            sets.append(
                {n for n in everything if chosen.random() < share} or {1}
            )
        for known in sets:
            self.assertEqual(everything - known, self.read(known), known)

    def test_known_id_of_a_later_row(self):
        later = self.write(seconds=1, user_id='later')

        self.assertEqual({later}, self.read(set(range(1, 302))))

    def test_negative_ids(self):
        # As a database may give them whose counter has overflown.
        with self.engine.begin() as connection:
            connection.execute(
                sqlalchemy.update(self.table).values(id=-self.table.c.id)
            )

        self.assertEqual(
            {-300}, self.read({-number for number in range(1, 300)})
        )
