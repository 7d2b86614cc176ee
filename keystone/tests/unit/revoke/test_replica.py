# SPDX-License-Identifier: Apache-2.0

import threading

from oslo_db import exception as db_exception

from keystone.common import counters
from keystone.revoke.backends import sql as revoke_sql
from keystone.tests.unit.revoke import replica_base


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

    def test_view(self):
        events = self.replica()
        self.assertIsNone(events.view)
        self.write(user_id='a')
        self.write(user_id='a')
        self.write(audit_id='b')
        self.assertRevoked(events, user_id='a')

        self.assertEqual(3, len(events.view.copy))
        self.assertEqual(
            {('user_id',): 1, ('audit_id',): 1}, events.view.copy.tree.counts()
        )


class CountersTests(replica_base.ReplicaTestCase):
    """What is counted of a request that checks tokens."""

    def setUp(self):
        super().setUp()
        #: of this thread, and of others
        self.reports, self.others = [], []
        self.thread = threading.current_thread()
        counters.report_to(self.report)
        self.addCleanup(counters.report_to, None)
        self.write(user_id='a')
        self.events = self.replica()

    def report(self, found):
        is_own = threading.current_thread() is self.thread
        (self.reports if is_own else self.others).append(found)

    def counted(self, events=None):
        """The counters of a request with one check."""
        with counters.counting():
            (events or self.events).is_revoked(self.token())
        found = self.reports.pop()
        self.assertEqual({'revocation events'}, {name for name, _ in found})
        return {what: number for (_, what), number in found.items()}

    def test_load(self):
        self.write(user_id='b')

        self.assertEqual({'load': 1, 'rows': 2}, self.counted())

    def test_in_step(self):
        self.counted()

        self.assertEqual({'in_step': 1}, self.counted())
        with counters.counting():
            self.assertIsNotNone(self.events.view_in_step(self.cache.id))
        self.assertEqual([{('revocation events', 'in_step'): 1}], self.reports)

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
        with counters.counting():
            self.assertFails(self.events)
        self.assertEqual([{('revocation events', 'failed'): 1}], self.reports)

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
        replica_base.load_in_threads(self, at_once=0)

        self.assertEqual({'queried': 1}, self.counted())

        for thread in threading.enumerate():
            if thread.name == 'revocation-events':
                thread.join(60)
        name = 'revocation events'
        # The newest row is read again by the sync that follows.
        self.assertEqual(
            [{(name, 'load'): 1, (name, 'sync'): 1, (name, 'rows'): 2}],
            self.others,
        )
