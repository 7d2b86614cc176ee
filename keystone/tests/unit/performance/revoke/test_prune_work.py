# SPDX-License-Identifier: Apache-2.0

import datetime
import re

import sqlalchemy

from keystone.models import revoke_model
from keystone.revoke.backends import base as backends
from keystone.revoke import pruning
from keystone.tests.unit.revoke import replica_base


class PruneWorkTests(replica_base.ReplicaTestCase):
    """What revoking and pruning cost, in statements and in rows."""

    BACKLOGS = (0, 100, 20_000)

    def setUp(self):
        super().setUp()
        self.cutoff = backends.revoked_before_cutoff_time()
        self.work = []
        for event, note in (
            ('before_cursor_execute', self.note_statement),
            ('commit', self.note_commit),
        ):
            sqlalchemy.event.listen(self.engine, event, note)
            self.addCleanup(sqlalchemy.event.remove, self.engine, event, note)

    def note_statement(self, connection, cursor, statement, *_):
        word = statement.split()[0]
        # SQLite alone is told these.
        if word not in ('BEGIN', 'PRAGMA'):
            self.work.append(word)

    def note_commit(self, connection):
        self.work.append('COMMIT')

    def fill(self, number):
        """Fill the table with expired rows only."""
        expired = self.cutoff - datetime.timedelta(seconds=1)
        rows = [
            {
                'user_id': f'user {number}',
                'issued_before': expired,
                'revoked_at': expired,
            }
            for number in range(number)
        ]
        with self.engine.begin() as connection:
            connection.execute(self.table.delete())
            if rows:
                connection.execute(self.table.insert(), rows)
        self.work.clear()

    def rows(self):
        count = sqlalchemy.select(sqlalchemy.func.count(self.table.c.id))
        with self.engine.connect() as connection:
            return connection.scalar(count)

    def test_a_revocation_costs_the_same_whatever_has_expired(self):
        for backlog in self.BACKLOGS:
            self.fill(backlog)

            self.driver.revoke(revoke_model.RevokeEvent(user_id='new'))

            self.assertEqual(['INSERT', 'COMMIT'], self.work)

    def test_1000_revocations_in_an_interval_prune_once(self):
        self.config(group='cache', enabled=False)
        self.fill(20_000)
        worker = pruning.AfterRevocation(self.clock)

        for _ in range(1000):
            worker.run(self.driver)

        self.assertEqual(1, self.work.count('DELETE'))
        self.assertEqual(1, self.work.count('COMMIT'))
        self.assertEqual(20_000 - pruning.BATCH, self.rows())

    def test_a_batch_costs_the_same_whatever_has_expired(self):
        for backlog in self.BACKLOGS[1:]:
            self.fill(backlog)

            batch = self.driver.prune_events(self.cutoff, 100)

            self.assertEqual((100, 100), (batch.found, batch.deleted))
            self.assertEqual(['SELECT', 'DELETE', 'COMMIT'], self.work)

    def test_an_empty_batch_deletes_nothing(self):
        self.fill(0)

        self.driver.prune_events(self.cutoff, 100)

        self.assertNotIn('DELETE', self.work)

    def test_each_statement_uses_an_index(self):
        plans = {}

        def explain(connection, cursor, statement, parameters, *_):
            word = statement.split()[0]
            if word in ('SELECT', 'DELETE'):
                cursor.execute(f'EXPLAIN QUERY PLAN {statement}', parameters)
                plans[word] = [row[-1] for row in cursor.fetchall()]

        self.fill(20_000)
        event = (self.engine, 'before_cursor_execute', explain)
        sqlalchemy.event.listen(*event)
        self.addCleanup(sqlalchemy.event.remove, *event)

        since = self.driver.prune_events(self.cutoff, 100).last
        self.assertPlans(plans)
        self.driver.prune_events(self.cutoff, 100, since)
        self.assertPlans(plans)

    def assertPlans(self, plans):
        (select,) = plans.pop('SELECT')
        self.assertTrue(
            re.match(
                r'SEARCH revocation_event USING COVERING INDEX '
                r'ix_revocation_event_revoked_at ',
                select,
            ),
            select,
        )
        (delete,) = plans.pop('DELETE')
        self.assertIn('USING INTEGER PRIMARY KEY', delete)
