# SPDX-License-Identifier: Apache-2.0

from oslo_db import exception as db_exception
import sqlalchemy

from keystone.models import revoke_model
from keystone.revoke.backends import sql as revoke_sql
from keystone.tests.unit.revoke import prune_base
from keystone.tests.unit.revoke import replica_base


class PruneTests(prune_base.PruneTestCase):
    """One batch."""

    def test_revoking_deletes_nothing(self):
        self.expired(3)
        event = revoke_model.RevokeEvent(user_id='new')

        self.driver.revoke(event)

        self.assertEqual(
            ['expired 3', 'expired 2', 'expired 1', 'new'], self.users()
        )

    def test_only_what_has_expired(self):
        self.expired(2)
        self.write(user_id='at the cutoff', revoked_at=self.cutoff)
        self.write(user_id='new')

        batch = self.driver.prune_events(self.cutoff, 100)

        self.assertEqual(
            (2, 2, self.cutoff - prune_base.SECOND, None), tuple(batch), batch
        )
        self.assertEqual(['at the cutoff', 'new'], self.users())

    def test_the_oldest_first(self):
        self.expired(5)

        batch = self.driver.prune_events(self.cutoff, 3)

        self.assertEqual(
            (3, 3, self.cutoff - 3 * prune_base.SECOND, None),
            tuple(batch),
            batch,
        )
        self.assertEqual(['expired 2', 'expired 1'], self.users())

    def test_from_where_the_last_one_ended(self):
        self.expired(5)

        batch = self.driver.prune_events(
            self.cutoff, 2, self.cutoff - 3 * prune_base.SECOND
        )

        self.assertEqual(2, batch.deleted)
        self.assertEqual(self.cutoff - 2 * prune_base.SECOND, batch.last)
        self.assertEqual(['expired 5', 'expired 4', 'expired 1'], self.users())

    def test_several_of_one_moment(self):
        for _ in range(3):
            self.expired(2)
        since = None

        for _ in range(3):
            since = self.driver.prune_events(self.cutoff, 2, since).last

        self.assertEqual([], self.users())

    def test_nothing_to_delete(self):
        self.write(user_id='new')

        batch = self.driver.prune_events(self.cutoff, 100)

        self.assertEqual((0, 0, None, None), tuple(batch))

    def test_gives_up_where_others_hold_locks(self):
        self.expired(3)
        other = self.locked()

        batch = self.driver.prune_events(self.cutoff, 100)

        self.assertEqual((0, 0, None), tuple(batch)[:3])
        self.assertIn('database is locked', batch.given_up)
        other.rollback()
        self.assertEqual(3, self.driver.prune_events(self.cutoff, 100).deleted)

    def test_gives_up_where_another_node_was_faster(self):
        # A Galera cluster says so at the end; this is MariaDB's answer.
        failure = sqlalchemy.exc.OperationalError(
            'COMMIT', None, Exception(1180, 'Got error 1 during COMMIT')
        )

        class Node(revoke_sql.Revoke):
            def _prune(self, *args):
                super()._prune(*args)
                raise failure

        self.expired(3)

        batch = Node().prune_events(self.cutoff, 100)

        self.assertEqual((0, 0, None), tuple(batch)[:3])
        self.assertIn('1180', batch.given_up)
        self.assertEqual(3, self.driver.prune_events(self.cutoff, 100).deleted)

    def test_other_users_of_the_connection_wait_as_before(self):
        def patience():
            with self.engine.connect() as connection:
                return connection.exec_driver_sql(
                    'PRAGMA busy_timeout'
                ).scalar()

        usual = patience()
        self.expired(1)
        self.driver.prune_events(self.cutoff, 100)
        self.assertEqual(usual, patience())

        self.expired(1)
        self.locked()
        self.assertIsNotNone(
            self.driver.prune_events(self.cutoff, 100).given_up
        )
        self.assertEqual(usual, patience())

    def test_other_failures_are_raised(self):
        self.take_away()
        self.addCleanup(self.bring_back)

        self.assertRaises(
            db_exception.DBError, self.driver.prune_events, self.cutoff, 100
        )

    def test_span_of_events(self):
        self.assertEqual((None, None), self.driver.span_of_events())
        self.expired(3)
        self.write(user_id='new')

        self.assertEqual(
            (self.cutoff - 3 * prune_base.SECOND, replica_base.NOW),
            self.driver.span_of_events(),
        )
