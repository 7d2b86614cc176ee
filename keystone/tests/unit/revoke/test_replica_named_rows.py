# SPDX-License-Identifier: Apache-2.0

import datetime

import fixtures
from oslo_db.sqlalchemy import enginefacade

from keystone.revoke.backends import sql as revoke_sql
from keystone.revoke import stamp
from keystone.tests.unit.revoke import replica_base


class NamedRowTests(replica_base.ReplicaTestCase):
    """The stamp names a row, which is there or not."""

    def name(self, row_id, revoked_at=replica_base.NOW):
        """Change the stamp so that it names a row, there or not."""
        self.cache.row = stamp.Row(row_id, revoked_at)
        self.cache.id += 1

    def test_row_of_the_stamp_is_looked_for_by_each_check(self):
        events = self.replica()
        self.assertValid(events, user_id='a')
        self.name(9)
        self.assertValid(events, user_id='a')

        self.write(id=9, user_id='a')

        self.assertRevoked(events, user_id='a')
        statements = self.statements()
        self.assertRevoked(events, user_id='a')
        self.assertEqual([], statements)

    def test_row_that_never_comes_is_looked_for_until_the_bound(self):
        events = self.replica()
        self.assertValid(events, user_id='a')
        statements = self.statements()
        self.name(9)

        for seconds in (0, 4, 0.9):
            self.clock.tick(seconds)
            self.assertValid(events, user_id='a')
        self.assertEqual(3, len(statements))
        self.clock.tick(5)
        self.clock.tick(0.2)
        self.assertValid(events, user_id='a')
        del statements[:]
        self.assertValid(events, user_id='a')

        self.assertEqual([], statements)

    def test_row_that_never_comes_fails_no_check(self):
        events = self.replica()
        for row_id in (2**40, 9, 0, -1):
            self.name(row_id)
            self.assertValid(events, user_id='a')
        row_id = self.revoke(user_id='b')
        self.assertRevoked(events, user_id='b')
        self.name(row_id + 5)

        self.revoke(user_id='c')

        self.assertRevoked(events, user_id='c')
        self.assertRevoked(events, user_id='b')

    def test_old_row_that_the_stamp_names_is_looked_for(self):
        row_id = self.write(seconds=-7200, user_id='a')
        self.write(user_id='b')
        self.name(row_id)
        events = self.replica()
        self.assertRevoked(events, user_id='b')
        statements = self.statements()

        self.assertRevoked(events, user_id='b')

        self.assertEqual([], statements)

    def test_expired_row_that_the_stamp_names_is_not_looked_for(self):
        # It was pruned, and nothing has been revoked since.
        self.name(9, replica_base.NOW - datetime.timedelta(days=30))
        events = self.replica()
        self.assertValid(events, user_id='a')
        statements = self.statements()

        self.assertValid(events, user_id='a')

        self.assertEqual([], statements)

    def test_causal_read_answers_for_a_row_that_is_not_there(self):
        class Causal(revoke_sql.Revoke):
            def read_news(self, *args):
                return super().read_news(*args)._replace(causal=True)

        events = self.replica(Causal())
        self.assertValid(events, user_id='a')
        self.name(9)
        self.assertValid(events, user_id='a')
        statements = self.statements()

        self.assertValid(events, user_id='a')

        self.assertEqual([], statements)

    def test_replicated_database_that_lags(self):
        folder = self.useFixture(fixtures.TempDir()).path
        manager = enginefacade.transaction_context()
        manager.configure(
            connection=str(self.engine.url),
            slave_connection=f'sqlite:///{folder}/lags.db',
        )
        self.useFixture(
            fixtures.MonkeyPatch(
                'keystone.common.sql.core._main_context_manager', manager
            )
        )
        self.table.create(manager.reader.get_engine())
        events = self.replica()
        self.assertValid(events, user_id='a')

        self.revoke(user_id='a')

        self.assertRevoked(events, user_id='a')
