# SPDX-License-Identifier: Apache-2.0

"""Transactions that conflict with others, as databases report them."""

import datetime

from oslo_db import exception as db_exception
import sqlalchemy

from keystone.models import revoke_model
from keystone.revoke.backends import db_errors
from keystone.tests.unit.revoke import replica_base


class _DriverError(Exception):
    """An error of psycopg2.

    :ivar pgcode: its SQLSTATE
    """

    def __init__(self, pgcode):
        super().__init__('restart transaction')
        self.pgcode = pgcode


def database_error(sqlstate):
    """An error without a class of its own in oslo.db."""
    return db_exception.DBError(
        sqlalchemy.exc.OperationalError('', {}, _DriverError(sqlstate))
    )


def mariadb_error(number):
    """An error that oslo.db takes for a deadlock."""
    cause = Exception(number, 'try restarting transaction')
    return db_exception.DBDeadlock(
        sqlalchemy.exc.OperationalError('', {}, cause)
    )


class ConflictTests(replica_base.ReplicaTestCase):
    """The transaction is repeated, a few times."""

    def fail(self, start, times, error=None):
        """Let the next statements fail that start with a word.

        :returns: list with how many are still to fail
        """
        left = [times]

        def note(connection, cursor, statement, *_):
            if left[0] and statement.startswith(start):
                left[0] -= 1
                raise error or database_error('40001')

        event = (self.engine, 'before_cursor_execute', note)
        sqlalchemy.event.listen(*event)
        self.addCleanup(sqlalchemy.event.remove, *event)
        return left

    def test_load(self):
        self.write(user_id='a')
        left = self.fail('SELECT', 4)
        events = self.replica()

        self.assertRevoked(events, user_id='a')
        self.assertValid(events, user_id='b')
        self.assertEqual([0], left)
        self.assertEqual(1, len(events.view.copy))

    def test_sync(self):
        events = self.replica()
        self.assertValid(events, user_id='a')
        self.revoke(user_id='a')
        left = self.fail('SELECT', 4)

        self.assertRevoked(events, user_id='a')
        self.assertEqual([0], left)

    def test_too_many_conflicts(self):
        events = self.replica()
        self.assertValid(events, user_id='a')
        self.revoke(user_id='a')
        self.fail('SELECT', 5)

        self.assertRaises(
            db_exception.DBError, self.assertRevoked, events, user_id='a'
        )
        self.assertRevoked(events, user_id='a')

    def test_events_that_are_not_in_memory(self):
        self.write(user_id='a')
        left = self.fail('SELECT', 4)

        (event,) = self.driver.read_matching(self.token(user_id='a'))

        self.assertEqual('a', event.user_id)
        self.assertEqual([0], left)

    def test_revocations(self):
        events = [revoke_model.RevokeEvent(user_id=name) for name in 'ab']
        left = self.fail('INSERT', 1)
        self.driver.revoke(events[0])
        self.assertEqual([0], left)

        left = self.fail('INSERT', 1)
        self.driver.revoke_together(events)
        self.assertEqual([0], left)

        names = [event.user_id for event in self.driver.list_events()]
        self.assertEqual(['a', 'a', 'b'], sorted(names))

    def test_batch_of_expired_events(self):
        self.write(seconds=-10, user_id='a')
        self.fail('DELETE', 1)
        now = self.clock.utcnow

        # The command and the next revocation try again.
        self.assertIsNotNone(self.driver.prune_events(now, 10).given_up)
        self.assertEqual(1, self.driver.prune_events(now, 10).deleted)

    def test_deadlock(self):
        events = self.replica()
        self.assertValid(events, user_id='a')
        self.revoke(user_id='a')
        left = self.fail('SELECT', 4, mariadb_error(1213))

        self.assertRevoked(events, user_id='a')
        self.assertEqual([0], left)

    def test_lock_wait_timeout(self):
        # The node of a Galera cluster that lags, after 30 seconds.
        error = mariadb_error(1205)
        events = self.replica()
        left = self.fail('SELECT', 3, error)
        for number in (2, 1):
            self.assertRaises(
                db_exception.DBDeadlock, self.assertValid, events, user_id='a'
            )
            self.assertEqual([number], left)
        self.assertRaises(
            db_exception.DBDeadlock, self.driver.read_matching, self.token()
        )
        self.assertEqual([0], left)

        # As upstream does.
        left = self.fail('INSERT', 1, error)
        self.driver.revoke(revoke_model.RevokeEvent(user_id='a'))
        self.assertEqual([0], left)

        self.fail('DELETE', 1, error)
        tomorrow = self.clock.utcnow + datetime.timedelta(days=1)
        self.assertIsNotNone(self.driver.prune_events(tomorrow, 10).given_up)

    def test_other_errors(self):
        self.write(user_id='a')
        left = self.fail('SELECT', 2, database_error('42P01'))

        self.assertRaises(
            db_exception.DBError,
            self.assertRevoked,
            self.replica(),
            user_id='a',
        )
        self.assertEqual([1], left)
        self.assertFalse(db_errors.is_conflict(ValueError()))
