# SPDX-License-Identifier: Apache-2.0

import collections
import datetime
import random
import threading

import fixtures

from keystone.models import revoke_model
from keystone.revoke.backends import incremental
from keystone.revoke.backends import sql as revoke_sql
from keystone.tests.unit.revoke import replica_base
from keystone.tests.unit.revoke import samples


class ManyRowsTests(replica_base.ReplicaTestCase):
    """More rows than a check waits for, or than memory may hold."""

    def setUp(self):
        super().setUp()
        replica_base.load_in_threads(self, at_once=3)
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
        loader = events.loader.thread
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
        self.assertIsNone(events.view)
        self.assertIsNone(events.view_in_step(self.cache.id))

        self.load(events)

        self.assertRevoked(events, user_id='a')
        self.assertRevoked(events, user_id='first 3')
        self.assertValid(events, user_id='b')
        self.assertEqual(5, len(events.view.copy))
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
        loader = events.loader.thread
        self.assertValid(events, user_id='a')

        self.assertIs(loader, events.loader.thread)

    def test_load_that_fails_is_begun_again_later(self):
        events = self.slow_replica()
        self.assertValid(events, user_id='a')
        self.take_away()
        self.load(events)
        self.assertIn('Failed to load revocation events', self.log.output)
        self.assertFails(events)
        self.bring_back()
        self.clock.tick(59)
        self.assertRevoked(events, user_id='first 0')
        self.assertFalse(events.loader.thread.is_alive())
        self.assertIsNone(events.view)

        self.clock.tick(1)
        self.assertRevoked(events, user_id='first 0')
        self.load(events)

        self.assertRevoked(events, user_id='first 0')
        self.assertEqual(4, len(events.view.copy))

    def test_check_loads_where_no_thread_can_be_started(self):
        events = self.replica()
        with fixtures.MockPatch(
            'keystone.revoke.background.threading.Thread.start',
            side_effect=RuntimeError("can't start new thread"),
        ):
            self.assertRevoked(events, user_id='first 0')

        self.assertEqual(4, len(events.view.copy))

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
        self.delete(self.table.c.id == 2)
        self.clock.tick(600)
        old = {'user_id': 'first 1', 'issued_at': replica_base.EARLIER}
        self.assertTrue(events.is_revoked(self.token(**old)))
        self.assertTrue(events.loader.thread.is_alive())
        self.assertTrue(events.is_revoked(self.token(**old)))

        self.load(events)

        self.assertFalse(events.is_revoked(self.token(**old)))

    def test_many_rows_are_loaded_anew_after_a_change_of_the_clock(self):
        events = self.slow_replica()
        self.assertValid(events, user_id='a')
        self.load(events)
        self.assertRevoked(events, user_id='first 0')
        events.driver.leave.clear()
        self.clock.utcnow += datetime.timedelta(seconds=120)
        self.cache.id += 1
        old = {'user_id': 'first 0', 'issued_at': replica_base.EARLIER}

        self.assertRevoked(events, **old)
        self.assertTrue(events.loader.thread.is_alive())
        self.load(events)

        self.assertRevoked(events, **old)
        self.assertEqual(4, len(events.view.copy))

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
        self.assertIsNone(events.view)
        self.assertEqual(1, self.log.output.count('max_events_in_memory'))

    def test_copy_that_grows_too_large_is_given_up(self):
        self.useFixture(
            fixtures.MonkeyPatch('keystone.revoke.background._AT_ONCE', 30)
        )
        self.config(group='revoke', max_events_in_memory=10)
        events = self.replica()
        for number in range(6):
            self.revoke(user_id=f'more {number}')
            self.assertRevoked(events, user_id=f'more {number}')
        self.assertEqual(10, len(events.view.copy))

        self.revoke(user_id='one too many')

        for user_id in ('one too many', 'more 0', 'first 0'):
            self.assertRevoked(events, user_id=user_id)
        self.assertValid(events, user_id='a')
        self.assertIsNone(events.view)
        self.delete(self.table.c.id <= 2)
        self.assertRevoked(events, user_id='one too many')
        self.assertIsNone(events.view)

        self.clock.tick(60)

        self.assertRevoked(events, user_id='one too many')
        self.assertEqual(9, len(events.view.copy))


class MatchingRowsTests(replica_base.ReplicaTestCase):
    """The rows that are read for one token are those that can matter."""

    def test_same_answers_as_the_tree(self):
        rng = random.Random(9)
        answers = collections.Counter()
        for _ in range(30):
            rows = [samples.random_event(rng) for _ in range(6)]
            with self.engine.begin() as connection:
                connection.execute(self.table.delete())
                connection.execute(self.table.insert(), [*map(vars, rows)])
            quick = samples.tree_of(*rows)
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
