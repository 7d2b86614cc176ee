# SPDX-License-Identifier: Apache-2.0

import datetime
import sqlite3

import sqlalchemy

from keystone.revoke.backends import base as backends
from keystone.tests.unit.revoke import replica_base

SECOND = datetime.timedelta(seconds=1)


class PruneTestCase(replica_base.ReplicaTestCase):
    """A table with rows that have expired."""

    def setUp(self):
        super().setUp()
        self.cutoff = backends.revoked_before_cutoff_time()

    def expired(self, number, first=1):
        """Write rows that expired 1, 2, 3, … seconds ago."""
        self.rows(
            {
                'user_id': f'expired {age}',
                'revoked_at': self.cutoff - age * SECOND,
            }
            for age in range(first, first + number)
        )

    def rows(self, rows):
        rows = [{'issued_before': self.cutoff, **row} for row in rows]
        with self.engine.begin() as connection:
            connection.execute(self.table.insert(), rows)

    def users(self):
        """The users that the rows name, oldest row first."""
        query = sqlalchemy.select(self.table.c.user_id).order_by(
            self.table.c.revoked_at
        )
        with self.engine.connect() as connection:
            return list(connection.scalars(query))

    def locked(self):
        """Connection of another process, which is writing."""
        other = sqlite3.connect(self.engine.url.database)
        self.addCleanup(other.close)
        other.execute('BEGIN IMMEDIATE')
        return other
