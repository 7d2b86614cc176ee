# SPDX-License-Identifier: Apache-2.0

import collections
import datetime
import os
import random
import threading
import time

import fixtures
from oslo_db import exception as db_exception
from oslo_db.sqlalchemy import enginefacade

from keystone.common.cache import counters
from keystone.models import revoke_model
from keystone.revoke.backends import incremental
from keystone.revoke.backends import sql as revoke_sql
from keystone.revoke import stamp
from keystone.revoke import tree
from keystone.tests.unit.revoke import replica_base
from keystone.tests.unit.revoke import samples


class InStepTests(replica_base.ReplicaTestCase):
    """When a check asks the database, and what it knows then."""

    def test_first_check_loads_the_table(self):
        self.write(user_id='a')
        events = self.replica()
        statements = self.statements()

        self.assertRevoked(events, user_id='a')
        self.assertValid(events, user_id='b')

        # The number of rows, the ids that are old, and the table.
        self.assertEqual(3, len(statements))

    def test_no_statement_while_nothing_changes(self):
        events = self.replica()
        self.assertValid(events, user_id='a')
        statements = self.statements()

        for _ in range(100):
            self.assertValid(events, user_id='a')

        self.assertEqual([], statements)

    def test_new_stamp_is_followed_by_one_statement(self):
        events = self.replica()
        self.assertValid(events, user_id='a')
        self.revoke(user_id='a')
        statements = self.statements()

        self.assertRevoked(events, user_id='a')
        self.assertRevoked(events, user_id='a')

        self.assertEqual(1, len(statements))

    def test_each_worker_sees_the_new_stamp(self):
        workers = [self.replica() for _ in range(3)]
        for events in workers:
            self.assertValid(events, user_id='a')

        self.revoke(user_id='a')

        for events in workers:
            self.assertRevoked(events, user_id='a')

    def test_row_without_a_stamp_is_seen_when_the_bound_has_passed(self):
        self.config(group='revoke', sync_interval=10)
        events = self.replica()
        self.assertValid(events, user_id='a')
        self.write(user_id='a')
        statements = self.statements()

        self.clock.tick(9)
        self.assertValid(events, user_id='a')
        self.assertEqual([], statements)
        self.clock.tick(1)
        self.assertRevoked(events, user_id='a')
        self.assertIn('count(', statements[0])
        self.assertEqual(2, len(statements))

    def test_without_a_shared_cache_each_check_asks_the_database(self):
        events = self.replica(cache=None)
        statements = self.statements()

        self.assertValid(events, user_id='a')
        self.write(user_id='a')
        self.assertRevoked(events, user_id='a')
        self.assertValid(events, user_id='b')

        self.assertEqual(3 + 2, len(statements))

    def test_clock_that_went_back_counts_as_passed(self):
        events = self.replica()
        self.assertValid(events, user_id='a')
        self.write(user_id='a')

        self.clock.now -= 1

        self.assertRevoked(events, user_id='a')

    def test_failing_cache_counts_as_changed(self):
        events = self.replica()
        self.assertValid(events, user_id='a')
        self.write(user_id='a')

        self.cache.id = object()

        self.assertRevoked(events, user_id='a')

    def test_status(self):
        events = self.replica()
        self.assertIsNone(events.status())
        self.write(user_id='a')
        self.write(user_id='a')
        self.write(audit_id='b')
        self.assertRevoked(events, user_id='a')

        self.clock.tick(3)

        self.assertEqual(
            {
                'rows': 3,
                'distinct': 2,
                'kinds': {('user_id',): 1, ('audit_id',): 1},
                'age': 3,
            },
            events.status(),
        )


class LateRowTests(replica_base.ReplicaTestCase):
    """Rows appear in another order than their ids and clocks tell."""

    def test_commits_out_of_id_order(self):
        events = self.replica()
        self.write(id=7, user_id='late id')
        self.assertRevoked(events, user_id='late id')

        self.revoke(id=3, user_id='early id')

        self.assertRevoked(events, user_id='early id')

    def test_clocks_that_differ(self):
        events = self.replica()
        for seconds in (5, -5, 0, 4, -4):
            user_id = f'skew {seconds}'
            self.revoke(
                seconds=seconds,
                user_id=user_id,
                issued_before=replica_base.NOW,
            )
            self.assertRevoked(events, user_id=user_id)

    def test_clock_far_ahead_does_not_hide_later_rows(self):
        events = self.replica()
        self.revoke(seconds=86400, user_id='from the future')
        self.assertRevoked(events, user_id='from the future')

        self.revoke(user_id='a')

        self.assertRevoked(events, user_id='a')

    def test_known_rows_are_not_read_again(self):
        read = []

        class Noting(revoke_sql.Revoke):
            def read_news(self, *args):
                news = super().read_news(*args)
                read.extend(row.id for row in news.rows)
                read.extend(row.id for row in news.between or ())
                return news

        events = self.replica(Noting())
        for number in range(20):
            self.revoke(user_id=str(number))
        self.assertRevoked(events, user_id='0')
        read.clear()

        row_id = self.revoke(user_id='new')
        self.assertRevoked(events, user_id='new')

        # The newest one that was known tells that the table goes on.
        self.assertEqual([row_id - 1, row_id], read)

    def test_id_that_is_given_again(self):
        events = self.replica()
        row_id = self.revoke(user_id='a')
        self.assertRevoked(events, user_id='a')
        with self.engine.begin() as connection:
            connection.execute(self.table.delete())

        self.clock.tick(2)
        self.revoke(id=row_id, user_id='b')

        self.assertRevoked(events, user_id='b')

    def test_ids_that_start_over_after_the_table_was_emptied(self):
        events = self.replica()
        for number in range(5):
            self.revoke(user_id=f'old {number}')
        self.assertRevoked(events, user_id='old 4')
        with self.engine.begin() as connection:
            connection.execute(self.table.delete())

        self.clock.tick(2)
        for number in range(5):
            self.revoke(id=number + 1, user_id=f'new {number}')

        for number in range(5):
            self.assertRevoked(events, user_id=f'new {number}')

    def test_ids_that_start_over_after_all_rows_had_expired(self):
        self.write(id=5, seconds=-30 * 86400, user_id='expired')
        events = self.replica()
        self.assertValid(events, user_id='expired')
        with self.engine.begin() as connection:
            connection.execute(self.table.delete())

        self.revoke(id=1, user_id='a')
        # The stamp only names the row of this one.
        self.revoke(id=2, user_id='b')

        self.assertRevoked(events, user_id='a')
        self.assertRevoked(events, user_id='b')

    def test_row_with_the_highest_id_had_expired(self):
        self.write(seconds=-7200, user_id='live')
        self.write(seconds=-30 * 86400, user_id='expired')
        events = self.replica()
        self.assertValid(events, user_id='a')
        statements = self.statements()

        self.revoke(user_id='a')

        self.assertRevoked(events, user_id='a')
        self.assertEqual(1, len(statements))

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

    def test_clock_of_the_writer_is_behind(self):
        events = self.replica()
        self.revoke(user_id='newest')
        self.assertRevoked(events, user_id='newest')
        for seconds in (90, 600, 3600):
            values = {'user_id': f'behind {seconds}'}
            self.revoke(
                seconds=-seconds, issued_before=replica_base.NOW, **values
            )
            # Another one follows before the first is looked for.
            self.revoke(user_id='another')
            self.assertRevoked(events, **values)

    def test_clock_of_the_writer_is_behind_without_a_stamp(self):
        events = self.replica()
        self.assertValid(events, user_id='a')
        self.write(seconds=-3600, user_id='a', issued_before=replica_base.NOW)

        self.clock.tick(10)

        self.assertRevoked(events, user_id='a')

    def test_transaction_longer_than_the_overlap(self):
        issued_at = replica_base.NOW - datetime.timedelta(minutes=1)
        for seconds in (50, 61, 1800):
            events = self.replica()
            begun = self.clock.utcnow
            late = self.revoke(user_id='before') + 1
            for number in range(3):
                self.revoke(id=late + 1 + number, user_id='meanwhile')
                self.clock.tick(seconds / 3)
                self.assertRevoked(
                    events, user_id='meanwhile', issued_at=issued_at
                )
            values = {'user_id': f'late {seconds}'}
            self.revoke(
                id=late, revoked_at=begun, issued_before=begun, **values
            )
            self.revoke(user_id='another')

            self.assertRevoked(events, issued_at=issued_at, **values)

    def test_transaction_longer_than_the_overlap_of_many(self):
        self.config(group='revoke', sync_interval=10)
        events = self.replica()
        begun = self.clock.utcnow
        late = self.revoke(user_id='before') + 1
        with self.engine.begin() as connection:
            connection.execute(
                self.table.insert(),
                [
                    {
                        'id': late + 1 + number,
                        'user_id': 'meanwhile',
                        'revoked_at': begun,
                        'issued_before': begun,
                    }
                    for number in range(6000)
                ],
            )
        for _ in range(20):
            self.clock.tick(10)
            events.is_revoked(self.token())
        self.write(
            id=late, user_id='late', revoked_at=begun, issued_before=begun
        )

        self.clock.tick(10)

        issued_at = begun - datetime.timedelta(minutes=1)
        self.assertRevoked(events, user_id='late', issued_at=issued_at)
        self.assertRevoked(events, user_id='meanwhile', issued_at=issued_at)

    def test_late_row_while_an_unpatched_node_deletes_old_rows(self):
        for number in range(3):
            self.write(seconds=-5410 - 500 * number, user_id='old')
        self.write(user_id='new')
        events = self.replica()
        self.assertRevoked(events, user_id='new')
        with self.engine.begin() as connection:
            old = self.table.c.user_id == 'old'
            connection.execute(self.table.delete().where(old))
        # By its id, no new one.
        self.write(id=-1, seconds=-1200, user_id='late')

        self.clock.tick(10)

        issued_at = replica_base.NOW - datetime.timedelta(days=1)
        self.assertRevoked(events, user_id='late', issued_at=issued_at)

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
        self.assertRevoked(self.events, user_id='before', issued_at=self.old())

    def old(self):
        return replica_base.NOW - datetime.timedelta(minutes=1)

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
        self.assertEqual(1, events.status()['rows'])

    def test_rows_are_forgotten_when_they_expire(self):
        events = self.replica()
        self.write(user_id='a')
        self.assertRevoked(events, user_id='a')

        self.clock.tick(3600)
        self.assertRevoked(events, user_id='a')
        self.clock.tick(60)

        self.assertValid(events, user_id='a')
        self.assertEqual(0, events.status()['distinct'])
        self.assertEqual(0, events.status()['rows'])


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
        with self.engine.begin() as connection:
            connection.execute(
                self.table.delete().where(self.table.c.user_id == 'a')
            )
        self.clock.tick(300)
        self.write(user_id='c')

        self.clock.tick(299)
        self.events.is_revoked(self.token())
        self.assertRevoked(self.events, user_id='a', issued_at=self.before())
        self.clock.tick(1)
        self.clock.tick(10)
        self.events.is_revoked(self.token())

        self.assertValid(self.events, user_id='a', issued_at=self.before())
        self.assertRevoked(self.events, user_id='b', issued_at=self.before())
        self.assertRevoked(self.events, user_id='c', issued_at=self.before())

    def test_emptied_table_is_noticed(self):
        with self.engine.begin() as connection:
            connection.execute(self.table.delete())
        self.write(user_id='c')
        self.clock.tick(10)
        self.assertRevoked(self.events, user_id='c')
        self.assertRevoked(self.events, user_id='a', issued_at=self.before())

        self.clock.tick(590)
        self.events.is_revoked(self.token())

        self.assertValid(self.events, user_id='a', issued_at=self.before())
        self.assertRevoked(self.events, user_id='c', issued_at=self.before())

    def before(self):
        return replica_base.NOW - datetime.timedelta(minutes=1)

    def test_row_that_comes_late_in_every_way_is_noticed(self):
        now = self.clock.utcnow
        self.clock.tick(300)
        self.revoke(user_id='c')
        self.assertRevoked(self.events, user_id='c')
        # Neither recorded lately, by its clock, nor above the others.
        self.write(seconds=-10800, id=-1, user_id='late', issued_before=now)
        self.clock.tick(10)
        self.assertValid(self.events, user_id='late', issued_at=self.before())

        self.clock.tick(300)
        self.events.is_revoked(self.token())

        self.assertRevoked(
            self.events, user_id='late', issued_at=self.before()
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

        self.assertRevoked(events, user_id='a', issued_at=self.before())


class FailureTests(replica_base.ReplicaTestCase):
    """The table cannot be read."""

    def test_serves_until_the_bound_and_fails_after_it(self):
        self.revoke(user_id='a')
        events = self.replica()
        self.assertRevoked(events, user_id='a')
        self.take_away()

        self.clock.tick(9)
        self.assertRevoked(events, user_id='a')
        self.assertValid(events, user_id='b')
        self.clock.tick(1)
        for _ in range(2):
            self.assertRaises(
                db_exception.DBError, events.is_revoked, self.token()
            )

        self.write_back(user_id='b')
        self.assertRevoked(events, user_id='b')

    def write_back(self, **values):
        self.bring_back()
        self.write(**values)

    def test_first_check_fails(self):
        self.take_away()
        events = self.replica()
        self.assertRaises(
            db_exception.DBError, events.is_revoked, self.token()
        )

        self.write_back(user_id='a')

        self.assertRevoked(events, user_id='a')

    def test_fails_at_once_if_a_row_is_known_to_be_missing(self):
        events = self.replica()
        self.assertValid(events, user_id='a')
        self.revoke(user_id='a')
        self.take_away()

        self.assertRaises(
            db_exception.DBError, events.is_revoked, self.token()
        )

    def test_fails_at_once_after_a_local_write(self):
        events = self.replica()
        self.assertValid(events, user_id='a')
        self.write(user_id='a')
        events.written(None)
        self.take_away()

        self.assertRaises(
            db_exception.DBError, events.is_revoked, self.token()
        )

    def test_without_a_bound_it_never_serves(self):
        events = self.replica(cache=None)
        self.assertValid(events, user_id='a')
        self.take_away()

        self.assertRaises(
            db_exception.DBError, events.is_revoked, self.token()
        )

    def assertFails(self, events):
        """Each check fails, until the database is back."""
        self.take_away()
        for _ in range(2):
            self.assertRaises(
                db_exception.DBError, events.is_revoked, self.token()
            )
        self.bring_back()

    def test_fails_at_once_if_the_new_stamp_names_no_row(self):
        # An unpatched Keystone has written it, or it was lost.
        events = self.replica()
        self.assertValid(events, user_id='a')
        self.write(user_id='a')
        self.cache.id += 1

        self.assertFails(events)

        self.assertRevoked(events, user_id='a')

    def test_fails_at_once_if_another_row_may_be_missing(self):
        named = self.write(user_id='b')
        events = self.replica()
        self.assertRevoked(events, user_id='b')
        # Announced before the row that the stamp names.
        self.revoke(user_id='a')
        self.cache.row = stamp.Row(named, self.clock.utcnow)
        self.cache.id += 1

        self.assertFails(events)

        self.assertRevoked(events, user_id='a')

    def test_fails_at_once_if_the_cache_fails_too(self):
        events = self.replica()
        self.assertValid(events, user_id='a')
        self.write(user_id='a')
        self.cache.id = object()

        self.assertFails(events)

        self.assertRevoked(events, user_id='a')

    def test_load_that_fails_half_way_loses_nothing(self):
        class HalfWay(revoke_sql.Revoke):
            fails = True

            def read_events(self, since, take):
                rows = []
                causal = super().read_events(since, rows.extend)
                if self.fails:
                    take(rows[:1])
                    raise db_exception.DBConnectionError
                take(rows)
                return causal

        driver = HalfWay()
        events = self.replica(driver)
        for user_id in ('first', 'second'):
            self.revoke(user_id=user_id)
        self.assertRaises(
            db_exception.DBError, events.is_revoked, self.token()
        )

        driver.fails = False

        for user_id in ('first', 'second'):
            self.assertRevoked(events, user_id=user_id)
        self.assertEqual(2, events.status()['rows'])


class CountersTests(replica_base.ReplicaTestCase):
    """What is counted of a request that checks tokens."""

    def setUp(self):
        super().setUp()
        self.addCleanup(counters.end)
        self.write(user_id='a')
        self.events = self.replica()

    def counted(self, events=None):
        """The counters of a request with one check."""
        counters.begin()
        (events or self.events).is_revoked(self.token())
        found = counters.end()
        self.assertEqual({'revocation events'}, {name for name, _ in found})
        return {what: number for (_, what), number in found.items()}

    def test_load(self):
        self.write(user_id='b')

        self.assertEqual({'load': 1, 'rows': 2}, self.counted())

    def test_in_step(self):
        self.counted()

        self.assertEqual({'in_step': 1}, self.counted())
        counters.begin()
        self.assertIsNotNone(self.events.view_in_step(self.cache.id))
        self.assertEqual({('revocation events', 'in_step'): 1}, counters.end())

    def test_sync(self):
        self.counted()
        self.revoke(user_id='b')

        # The newest known row is read again.
        self.assertEqual({'sync': 1, 'rows': 2}, self.counted())

    def test_database_fails(self):
        self.counted()
        self.take_away()
        self.assertEqual({'in_step': 1}, self.counted())

        self.clock.tick(10)
        counters.begin()
        self.assertRaises(
            db_exception.DBError, self.events.is_revoked, self.token()
        )
        self.assertEqual({('revocation events', 'failed'): 1}, counters.end())

    def test_recount_fails(self):
        class NoCount(revoke_sql.Revoke):
            def count_events(self, since, before):
                if before.year < 9999:
                    raise db_exception.DBConnectionError
                return super().count_events(since, before)

        events = self.replica(NoCount())
        self.counted(events)
        self.clock.tick(600)

        self.assertEqual(
            {'sync': 1, 'rows': 1, 'failed': 1}, self.counted(events)
        )

    def test_too_many_rows(self):
        self.write(user_id='b')
        self.config(group='revoke', max_events_in_memory=1)

        self.assertEqual({'queried': 1}, self.counted())

    def test_load_in_a_thread(self):
        self.useFixture(
            fixtures.MonkeyPatch('keystone.revoke.replica._AT_ONCE', 0)
        )
        reports = []
        counters.report_to(reports.append)
        self.addCleanup(counters.report_to, None)

        self.assertEqual({'queried': 1}, self.counted())

        for thread in threading.enumerate():
            if thread.name == 'revocation-events':
                thread.join(60)
        name = 'revocation events'
        # The newest row is read again by the sync that follows.
        self.assertEqual(
            [{(name, 'load'): 1, (name, 'sync'): 1, (name, 'rows'): 2}],
            reports,
        )


class FailsSlowly(revoke_sql.Revoke):
    """A driver that cannot reach its database for a while."""

    fails = False
    failures = 0

    def __init__(self):
        super().__init__()
        self.entered, self.leave = threading.Event(), threading.Event()

    def fail(self):
        if self.fails:
            self.failures += 1
            self.entered.set()
            self.leave.wait(60)
            time.sleep(0.1)
            raise db_exception.DBConnectionError

    def read_news(self, *args):
        self.fail()
        return super().read_news(*args)

    def count_events(self, *args):
        self.fail()
        return super().count_events(*args)


class ThreadTests(replica_base.ReplicaTestCase):
    def run_threads(self, number, target):
        results = []

        def run():
            results.append(target())

        threads = [threading.Thread(target=run) for _ in range(number)]
        for thread in threads:
            thread.start()
        return threads, results

    def test_one_thread_reads_for_all_that_wait(self):
        entered, leave = threading.Event(), threading.Event()

        class Slow(revoke_sql.Revoke):
            reads = 0

            def read_events(self, *args, **kwargs):
                self.reads += 1
                entered.set()
                leave.wait(60)
                return super().read_events(*args, **kwargs)

        driver = Slow()
        events = self.replica(driver)
        self.write(user_id='a')
        token = self.token(user_id='a')
        threads, results = self.run_threads(
            1, lambda: events.is_revoked(token)
        )
        entered.wait(60)
        more, others = self.run_threads(8, lambda: events.is_revoked(token))
        leave.set()
        for thread in threads + more:
            thread.join(60)

        self.assertEqual([True] * 9, results + others)
        # Those that came during the first read may need a second one.
        self.assertLessEqual(driver.reads, 2)

    def check_slow_failures(self, events, driver):
        """Have eight checks wait while another one fails slowly."""
        driver.fails = True
        token = self.token(user_id='a')

        def check():
            self.assertRaises(db_exception.DBError, events.is_revoked, token)
            return True

        first, results = self.run_threads(1, check)
        self.assertTrue(driver.entered.wait(60))
        others, more = self.run_threads(8, check)
        time.sleep(0.2)
        driver.leave.set()
        for thread in first + others:
            thread.join(60)
        self.assertEqual([True] * 9, results + more)
        # One began before the others came. One of them may be late.
        self.assertLessEqual(driver.failures, 3)

        driver.fails = False
        self.assertRevoked(events, user_id='a')

    def test_failed_sync_is_not_repeated_by_all_that_wait(self):
        driver = FailsSlowly()
        events = self.replica(driver)
        self.assertValid(events, user_id='a')
        self.revoke(user_id='a')
        self.check_slow_failures(events, driver)

    def test_failed_first_check_is_not_repeated_by_all_that_wait(self):
        self.write(user_id='a')
        driver = FailsSlowly()
        self.check_slow_failures(self.replica(driver), driver)

    def test_sync_that_began_before_the_stamp_was_read_does_not_count(self):
        entered, leave = threading.Event(), threading.Event()

        class Slow(revoke_sql.Revoke):
            def read_events(self, *args, **kwargs):
                causal = super().read_events(*args, **kwargs)
                entered.set()
                leave.wait(60)
                return causal

        events = self.replica(Slow())
        token = self.token(user_id='a')
        first, _ = self.run_threads(1, lambda: events.is_revoked(token))
        entered.wait(60)
        # The first thread has read the table; now it changes.
        self.revoke(user_id='a')
        second, results = self.run_threads(1, lambda: events.is_revoked(token))
        leave.set()
        for thread in first + second:
            thread.join(60)

        self.assertEqual([True], results)

    def test_old_copy_serves_while_all_is_loaded_anew(self):
        entered, leave = threading.Event(), threading.Event()

        class Slow(revoke_sql.Revoke):
            slow = False

            def read_events(self, *args):
                if self.slow:
                    entered.set()
                    leave.wait(60)
                return super().read_events(*args)

            def count_events(self, since, before):
                # Not that of the recent ones, of which none is late.
                self.slow = before < self.latest
                return super().count_events(since, before) + self.slow

            latest = self.clock.utcnow + datetime.timedelta(days=1)

        self.config(group='token', expiration=86400)
        events = self.replica(Slow())
        self.write(user_id='a')
        token = self.token(user_id='a')
        self.assertTrue(events.is_revoked(token))
        self.clock.tick(600)
        loader, results = self.run_threads(1, lambda: events.is_revoked(token))
        self.assertTrue(entered.wait(60))

        self.assertTrue(events.is_revoked(token))
        self.revoke(user_id='b')
        self.assertRevoked(events, user_id='b')
        leave.set()
        loader[0].join(60)

        self.assertEqual([True], results)
        self.assertRevoked(events, user_id='b')
        self.assertEqual(2, events.status()['rows'])


class ManyRowsTests(replica_base.ReplicaTestCase):
    """More rows than a check waits for, or than memory may hold."""

    def setUp(self):
        super().setUp()
        self.useFixture(
            fixtures.MonkeyPatch('keystone.revoke.replica._AT_ONCE', 3)
        )
        self.log = self.useFixture(fixtures.FakeLogger())
        for number in range(4):
            self.write(user_id=f'first {number}')

    def slow_replica(self):
        """A replica that reads the table when it is let."""

        class Slow(revoke_sql.Revoke):
            entered, leave = threading.Event(), threading.Event()

            def read_events(self, *args):
                self.entered.set()
                self.leave.wait(60)
                return super().read_events(*args)

        events = self.replica(Slow())
        # Its thread would go on with what the next test has.
        self.addCleanup(self.load, events)
        return events

    def load(self, events):
        """Let a replica that has begun to load the table end it."""
        loader = events._loader
        events.driver.leave.set()
        # It may be over by now.
        if loader is not None:
            loader.join(60)

    def test_database_is_asked_while_the_table_is_loaded(self):
        events = self.slow_replica()
        self.assertRevoked(events, user_id='first 0')
        self.assertTrue(events.driver.entered.wait(60))
        self.assertValid(events, user_id='a')
        self.revoke(user_id='a')
        self.assertRevoked(events, user_id='a')
        self.assertIsNone(events.status())
        self.assertIsNone(events.view_in_step(self.cache.id))

        self.load(events)

        self.assertRevoked(events, user_id='a')
        self.assertRevoked(events, user_id='first 3')
        self.assertValid(events, user_id='b')
        self.assertEqual(5, events.status()['rows'])
        statements = self.statements()
        self.assertRevoked(events, user_id='a')
        self.assertEqual([], statements)

    def test_row_that_is_committed_while_the_table_is_loaded(self):
        events = self.slow_replica()
        self.assertValid(events, user_id='a')
        self.write(user_id='a')
        self.load(events)

        self.assertRevoked(events, user_id='a')

    def test_table_is_loaded_once_for_all_threads(self):
        events = self.slow_replica()
        self.assertValid(events, user_id='a')
        loader = events._loader
        self.assertValid(events, user_id='a')

        self.assertIs(loader, events._loader)

    def test_load_that_fails_is_begun_again_later(self):
        events = self.slow_replica()
        self.assertValid(events, user_id='a')
        self.take_away()
        self.load(events)
        self.assertIn('Failed to load revocation events', self.log.output)
        self.assertRaises(
            db_exception.DBError, events.is_revoked, self.token()
        )
        self.bring_back()
        self.clock.tick(59)
        self.assertRevoked(events, user_id='first 0')
        self.assertIsNone(events._loader)
        self.assertIsNone(events.status())

        self.clock.tick(1)
        self.assertRevoked(events, user_id='first 0')
        self.load(events)

        self.assertRevoked(events, user_id='first 0')
        self.assertEqual(4, events.status()['rows'])

    def test_database_is_asked_where_no_thread_can_be_started(self):
        events = self.slow_replica()
        with fixtures.MockPatch(
            'keystone.revoke.replica.threading.Thread.start',
            side_effect=RuntimeError("can't start new thread"),
        ):
            self.assertRevoked(events, user_id='first 0')
        self.assertValid(events, user_id='a')
        self.assertIsNone(events._loader)
        self.assertEqual(1, self.log.output.count('new thread'))

        self.clock.tick(60)
        self.assertValid(events, user_id='a')
        self.load(events)

        self.assertRevoked(events, user_id='first 0')
        self.assertEqual(4, events.status()['rows'])

    def test_old_copy_serves_while_many_rows_are_loaded_anew(self):
        events = self.slow_replica()
        self.assertValid(events, user_id='a')
        self.load(events)
        self.assertRevoked(events, user_id='first 0')
        events.driver.leave.clear()
        self.config(group='token', expiration=86400)
        self.clock.tick(1200)
        for number in range(8):
            self.revoke(user_id=f'second {number}')
        self.assertRevoked(events, user_id='second 0')
        with self.engine.begin() as connection:
            connection.execute(self.table.delete().where(self.table.c.id == 2))
        self.clock.tick(600)
        old = {
            'user_id': 'first 1',
            'issued_at': replica_base.NOW - datetime.timedelta(minutes=1),
        }
        self.assertTrue(events.is_revoked(self.token(**old)))
        self.assertIsNotNone(events._loader)
        self.assertTrue(events.is_revoked(self.token(**old)))

        self.load(events)

        self.assertFalse(events.is_revoked(self.token(**old)))

    def test_table_with_too_many_rows_is_not_loaded(self):
        self.config(group='revoke', max_events_in_memory=3)
        events = self.replica()
        statements = self.statements()
        self.assertRevoked(events, user_id='first 0')
        self.assertValid(events, user_id='a')
        # The rows are counted by the first check only.
        self.assertEqual(1 + 2, len(statements))
        self.revoke(user_id='a')
        self.assertRevoked(events, user_id='a')
        self.assertIsNone(events.status())
        self.assertEqual(1, self.log.output.count('max_events_in_memory'))

    def test_copy_that_grows_too_large_is_given_up(self):
        self.useFixture(
            fixtures.MonkeyPatch('keystone.revoke.replica._AT_ONCE', 30)
        )
        self.config(group='revoke', max_events_in_memory=10)
        events = self.replica()
        for number in range(6):
            self.revoke(user_id=f'more {number}')
            self.assertRevoked(events, user_id=f'more {number}')
        self.assertEqual(10, events.status()['rows'])

        self.revoke(user_id='one too many')

        for user_id in ('one too many', 'more 0', 'first 0'):
            self.assertRevoked(events, user_id=user_id)
        self.assertValid(events, user_id='a')
        self.assertIsNone(events.status())
        with self.engine.begin() as connection:
            connection.execute(self.table.delete().where(self.table.c.id <= 2))
        self.assertRevoked(events, user_id='one too many')
        self.assertIsNone(events.status())

        self.clock.tick(60)

        self.assertRevoked(events, user_id='one too many')
        self.assertEqual(9, events.status()['rows'])


class MatchingRowsTests(replica_base.ReplicaTestCase):
    """The rows that are read for one token are those that can matter."""

    def test_same_answers_as_the_tree(self):
        rng = random.Random(9)
        answers = collections.Counter()
        for _ in range(30):
            quick = tree.RevocationTree()
            rows = [samples.random_event(rng) for _ in range(6)]
            with self.engine.begin() as connection:
                connection.execute(self.table.delete())
                connection.execute(self.table.insert(), [*map(vars, rows)])
            for row in rows:
                quick.add(row)
            for _ in range(20):
                token = samples.random_token(rng)
                events = self.driver.read_matching(token)
                found = revoke_model.is_revoked(events, token)
                self.assertEqual(quick.is_revoked(token), found, token)
                answers[found] += 1
        for number in answers.values():
            self.assertLess(100, number)

    def test_driver_that_reads_what_a_token_does_not_have(self):
        class Elsewhere(revoke_sql.Revoke):
            read_matching = incremental.IncrementalRead.read_matching

        self.write(audit_id='mine')
        self.write(trust_id='other')
        token = {'audit_id': 'mine', 'issued_at': replica_base.NOW}

        (event,) = Elsewhere().read_matching(token)

        self.assertEqual('mine', event.audit_id)

    def test_rows_of_others_are_not_read(self):
        for number in range(20):
            self.write(user_id=f'other {number}')
            self.write(audit_id=f'other {number}')
            self.write(audit_chain_id=f'other {number}')
            self.write(project_id=f'other {number}', role_id='r')
            self.write(domain_id=f'other {number}')
        self.write(user_id='u', project_id='other')
        self.write(user_id='trustor')
        self.write(audit_chain_id='root')
        self.write(audit_id='mine', seconds=-3600)
        token = self.token(
            user_id='u', trustor_id='trustor', audit_id='mine',
            audit_chain_id='root', project_id='p',
        )  # fmt: skip

        events = self.driver.read_matching(token)

        self.assertEqual(
            {('trustor', None), (None, 'root')},
            {(each.user_id, each.audit_chain_id) for each in events},
        )


class ForkTests(replica_base.ReplicaTestCase):
    def in_child(self, check):
        """Whether a check is true in a forked process."""
        child = os.fork()
        if not child:
            code = 1
            try:
                code = 0 if check() else 1
            finally:
                os._exit(code)
        _, status = os.waitpid(child, 0)
        return os.waitstatus_to_exitcode(status) == 0

    def test_child_loads_for_itself_while_a_thread_holds_the_lock(self):
        entered, leave = threading.Event(), threading.Event()
        parent = os.getpid()

        class Stuck(revoke_sql.Revoke):
            def read_events(self, *args, **kwargs):
                if os.getpid() == parent and threading.current_thread() is (
                    thread
                ):
                    entered.set()
                    leave.wait(60)
                return super().read_events(*args, **kwargs)

        self.write(user_id='a')
        events = self.replica(Stuck())
        token = self.token(user_id='a')
        thread = threading.Thread(target=events.is_revoked, args=(token,))
        thread.start()
        self.addCleanup(thread.join, 60)
        self.addCleanup(leave.set)
        self.assertTrue(entered.wait(60))

        self.assertTrue(self.in_child(lambda: events.is_revoked(token)))

    def test_child_and_parent_go_on_apart(self):
        events = self.replica()
        self.assertValid(events, user_id='a')
        token = self.token(user_id='a')

        def revoke_in_child():
            self.write(user_id='a')
            events.written(None)
            return events.is_revoked(token)

        self.assertTrue(self.in_child(revoke_in_child))
        self.assertFalse(events.is_revoked(token))
        self.clock.tick(10)
        self.assertTrue(events.is_revoked(token))
