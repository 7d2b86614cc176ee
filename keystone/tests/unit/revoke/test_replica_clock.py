# SPDX-License-Identifier: Apache-2.0

import datetime

from oslo_db import exception as db_exception

from keystone.revoke.backends import sql as revoke_sql
from keystone.tests.unit.revoke import replica_base


class OwnClockTests(replica_base.ReplicaTestCase):
    """The wall clock of the process is wrong for a while."""

    def setUp(self):
        super().setUp()
        self.config(group='token', expiration=3600, allow_expired_window=0)
        self.config(
            group='revoke', expiration_buffer=0, longest_token_lifetime=0
        )
        self.events = self.replica()

    def step(self, seconds):
        """Set the wall clock, and no other."""
        self.clock.utcnow += datetime.timedelta(seconds=seconds)

    def check_through(self, seconds):
        self.revoke(user_id='before')
        self.assertRevoked(self.events, user_id='before')
        self.step(seconds)
        self.events.is_revoked(self.token())
        self.cache.id += 1
        self.events.is_revoked(self.token())
        self.step(-seconds)
        self.revoke(user_id='after')
        self.assertRevoked(self.events, user_id='after')
        self.assertRevoked(self.events, user_id='before')
        self.clock.tick(30)
        self.assertRevoked(
            self.events, user_id='before', issued_at=replica_base.EARLIER
        )

    def test_ahead(self):
        self.check_through(5600)

    def test_behind(self):
        self.check_through(-5600)

    def test_far_ahead(self):
        self.check_through(30 * 86400)

    def test_ahead_at_the_first_check(self):
        self.write(user_id='before')
        self.step(5600)
        self.events.is_revoked(self.token())
        self.step(-5600)
        self.cache.id += 1

        self.assertRevoked(self.events, user_id='before')

    def test_step_reads_the_table_once(self):
        self.assertValid(self.events, user_id='a')
        self.step(120)
        self.cache.id += 1
        self.events.is_revoked(self.token())
        statements = self.statements()

        self.cache.id += 1
        self.events.is_revoked(self.token())

        self.assertEqual(1, len(statements))


class RetentionTests(replica_base.ReplicaTestCase):
    def setUp(self):
        super().setUp()
        self.config(group='token', expiration=3600, allow_expired_window=0)
        self.config(
            group='revoke', expiration_buffer=0, longest_token_lifetime=0
        )

    def token(self, **values):
        issued_at = replica_base.NOW - datetime.timedelta(days=1)
        return {**super().token(**values), 'issued_at': issued_at}

    def test_expired_rows_are_not_loaded(self):
        self.write(seconds=-3601, user_id='old')
        self.write(seconds=-3600, user_id='live')
        events = self.replica()

        self.assertRevoked(events, user_id='live')
        self.assertValid(events, user_id='old')
        self.assertEqual(1, len(events.view.copy))

    def test_rows_are_forgotten_when_they_expire(self):
        events = self.replica()
        self.write(user_id='a')
        self.assertRevoked(events, user_id='a')

        self.clock.tick(3600)
        self.assertRevoked(events, user_id='a')
        self.clock.tick(1024)

        self.assertValid(events, user_id='a')
        self.assertEqual(0, len(events.view.copy.tree))
        self.assertEqual(0, len(events.view.copy))


class RecountTests(replica_base.ReplicaTestCase):
    def setUp(self):
        super().setUp()
        self.config(group='token', expiration=86400)
        self.config(group='revoke', recount_interval=600)
        self.events = self.replica()
        self.write(user_id='a')
        self.write(user_id='b')
        self.assertRevoked(self.events, user_id='a')

    def test_deleted_rows_are_noticed(self):
        self.delete(self.table.c.user_id == 'a')
        self.clock.tick(300)
        self.write(user_id='c')

        self.clock.tick(299)
        self.events.is_revoked(self.token())
        self.assertRevoked(
            self.events, user_id='a', issued_at=replica_base.EARLIER
        )
        self.clock.tick(1)
        self.clock.tick(10)
        self.events.is_revoked(self.token())

        self.assertValid(
            self.events, user_id='a', issued_at=replica_base.EARLIER
        )
        self.assertRevoked(
            self.events, user_id='b', issued_at=replica_base.EARLIER
        )
        self.assertRevoked(
            self.events, user_id='c', issued_at=replica_base.EARLIER
        )

    def test_deleted_rows_are_noticed_after_a_change_of_the_clock(self):
        self.delete(self.table.c.user_id == 'a')
        self.clock.utcnow += datetime.timedelta(seconds=120)
        self.write(user_id='c')
        self.cache.id += 1
        self.assertRevoked(self.events, user_id='c')
        self.clock.tick(600)
        self.events.is_revoked(self.token())

        issued_at = replica_base.EARLIER
        self.assertRevoked(self.events, user_id='b', issued_at=issued_at)
        self.assertValid(self.events, user_id='a', issued_at=issued_at)

    def test_emptied_table_is_noticed(self):
        self.delete()
        self.write(user_id='c')
        self.clock.tick(10)
        self.assertRevoked(self.events, user_id='c')
        self.assertRevoked(
            self.events, user_id='a', issued_at=replica_base.EARLIER
        )

        self.clock.tick(590)
        self.events.is_revoked(self.token())

        self.assertValid(
            self.events, user_id='a', issued_at=replica_base.EARLIER
        )
        self.assertRevoked(
            self.events, user_id='c', issued_at=replica_base.EARLIER
        )

    def test_row_that_comes_late_in_every_way_is_noticed(self):
        now = self.clock.utcnow
        self.clock.tick(300)
        self.revoke(user_id='c')
        self.assertRevoked(self.events, user_id='c')
        # Neither recorded lately, by its clock, nor above the others.
        self.write(seconds=-10800, id=-1, user_id='late', issued_before=now)
        self.clock.tick(10)
        self.assertValid(
            self.events, user_id='late', issued_at=replica_base.EARLIER
        )

        self.clock.tick(300)
        self.events.is_revoked(self.token())

        self.assertRevoked(
            self.events, user_id='late', issued_at=replica_base.EARLIER
        )

    def test_equal_counts_load_nothing(self):
        self.clock.tick(300)
        self.revoke(user_id='c')
        self.assertRevoked(self.events, user_id='c')
        statements = self.statements()

        self.clock.tick(300)
        self.assertValid(self.events, user_id='z')

        self.assertEqual(3, len(statements))
        self.assertIn('count(', statements[0])
        self.assertIn('count(', statements[2])

    def test_zero_turns_it_off(self):
        self.config(group='revoke', recount_interval=0)
        statements = self.statements()

        self.clock.tick(86400)
        self.assertValid(self.events, user_id='z')

        self.assertEqual(2, len(statements))

    def test_failing_count_fails_no_check(self):
        class NoCount(revoke_sql.Revoke):
            def count_events(self, since, before):
                if before > self.latest:
                    return super().count_events(since, before)
                raise db_exception.DBConnectionError

            latest = self.clock.utcnow + datetime.timedelta(days=1)

        events = self.replica(NoCount())
        self.assertRevoked(events, user_id='a')

        self.clock.tick(600)

        self.assertRevoked(events, user_id='a', issued_at=replica_base.EARLIER)
