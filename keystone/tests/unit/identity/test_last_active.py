# SPDX-License-Identifier: Apache-2.0

"""When a user was last active, by users who sign in at the same time."""

import contextlib
import datetime
import uuid

import freezegun
import sqlalchemy
from sqlalchemy import event

from keystone.common import provider_api
from keystone.common import sql
from keystone.identity.backends import sql_model
from keystone.tests.unit import test_v3

PROVIDERS = provider_api.ProviderAPIs


class LastActiveTests(test_v3.RestfulTestCase):
    """It is written once a day, by a transaction that reads nothing."""

    def last_active(self):
        with sql.session_for_read() as session:
            return session.get(sql_model.User, self.user_id).last_active_at

    def note(self, user_id=None):
        PROVIDERS.shadow_users_api.set_last_active_at(user_id or self.user_id)

    @contextlib.contextmanager
    def transactions(self):
        """Yield the first words of the statements of each transaction."""
        found = []

        def begin(connection):
            found.append([])

        def execute(connection, cursor, statement, *_):
            if statement != 'BEGIN':
                found[-1].append(statement.split()[0])

        events = (
            (sqlalchemy.Engine, 'begin', begin),
            (sqlalchemy.Engine, 'before_cursor_execute', execute),
        )
        for one in events:
            event.listen(*one)
        try:
            yield found
        finally:
            for one in events:
                event.remove(*one)

    def test_once_a_day(self):
        with freezegun.freeze_time('2026-01-01 12:00'):
            with self.transactions() as first:
                self.note()
            with self.transactions() as second:
                self.note()
            self.assertEqual(datetime.date(2026, 1, 1), self.last_active())
        with freezegun.freeze_time('2026-01-02 00:00'):
            self.note()
            self.assertEqual(datetime.date(2026, 1, 2), self.last_active())

        self.assertEqual([['SELECT'], ['UPDATE']], first)
        self.assertEqual([['SELECT']], second)

    def test_sign_in(self):
        with freezegun.freeze_time('2026-01-01 12:00'):
            self.get_scoped_token()

            self.assertEqual(datetime.date(2026, 1, 1), self.last_active())

    def test_nobody(self):
        self.note(uuid.uuid4().hex)
