# SPDX-License-Identifier: Apache-2.0

import datetime
import os
import re

import fixtures
from oslo_config import fixture as config_fixture
from oslo_db import exception as db_exception
from oslo_db.sqlalchemy import enginefacade
from oslo_utils import timeutils
import sqlalchemy

from keystone.common import sql
import keystone.conf
from keystone.models import revoke_model
from keystone.revoke.backends import sql as revoke_sql
from keystone.revoke import replica
from keystone.revoke import stamp
from keystone.tests import unit

CONF = keystone.conf.CONF

NOW = datetime.datetime(2026, 11, 2, 10, 0, 0)
EARLIER = NOW - datetime.timedelta(minutes=1)


class Cache:
    """What processes share: a stamp, and the row that was written last."""

    def __init__(self):
        self.id = 0
        self.row = None


class Stamp:
    """One process's look at a :class:`Cache`, or at none."""

    def __init__(self, cache=None):
        self.cache = cache

    @property
    def is_shared(self):
        return self.cache is not None

    def read(self):
        return self.cache and self.cache.id

    def row_of(self, stamp):
        return self.cache and self.cache.row

    def note_row(self, row):
        if self.cache is not None:
            self.cache.row = row


class Clock:
    """A clock that only a test moves, and the wall clock with it."""

    def __init__(self):
        self.now = 1000.0
        self.utcnow = NOW
        #: seconds that reading it takes
        self.delay = 0

    def __call__(self):
        self.now += self.delay
        return self.now

    def tick(self, seconds):
        self.now += seconds
        self.utcnow += datetime.timedelta(seconds=seconds)


def use_threads(test):
    """Have SQLite treated as a database server is."""
    test.useFixture(
        fixtures.MonkeyPatch(
            'keystone.revoke.background.is_local', lambda: False
        )
    )


def load_in_threads(test, at_once):
    """Have a table with more rows than some loaded in a thread."""
    use_threads(test)
    test.useFixture(
        fixtures.MonkeyPatch('keystone.revoke.background._AT_ONCE', at_once)
    )
    # Another thread would go on with what the next test has.
    test.useFixture(
        fixtures.MockPatch('keystone.revoke.background.BackgroundSync.start')
    )


class ReplicaTestCase(unit.BaseTestCase):
    """A table of revocation events, and replicas of it."""

    def setUp(self):
        super().setUp()
        self.config = self.useFixture(config_fixture.Config(CONF)).config
        self.clock = Clock()
        self.useFixture(
            fixtures.MonkeyPatch(
                'oslo_utils.timeutils.utcnow', lambda: self.clock.utcnow
            )
        )
        self.cache = Cache()
        self.driver = revoke_sql.Revoke()
        self.connect()

    def connect(self, url=None):
        """Use a new table, in a database file unless a URL is given."""
        folder = self.useFixture(fixtures.TempDir()).path
        url = url or 'sqlite:///' + os.path.join(folder, 'keystone.db')
        manager = enginefacade.transaction_context()
        manager.configure(connection=url)
        self.useFixture(
            fixtures.MonkeyPatch(
                'keystone.common.sql.core._main_context_manager', manager
            )
        )
        self.engine = manager.writer.get_engine()
        self.addCleanup(self.engine.dispose)
        self.table = revoke_sql.RevocationEvent.__table__
        self.table.drop(self.engine, checkfirst=True)
        self.table.create(self.engine)
        self.addCleanup(self.table.drop, self.engine, checkfirst=True)

    def replica(self, driver=None, cache='shared', **kwargs):
        """Make the replica of one more worker."""
        shared = self.cache if cache == 'shared' else cache
        return replica.EventReplica(
            driver or self.driver, Stamp(shared), clock=self.clock, **kwargs
        )

    def write(self, seconds=0, **values):
        """Commit a row without announcing it; its id.

        :param seconds: how far ahead of ours the writer's clock is
        """
        revoked_at = timeutils.utcnow().replace(microsecond=0)
        revoked_at += datetime.timedelta(seconds=seconds)
        values.setdefault('revoked_at', revoked_at)
        values.setdefault('issued_before', revoked_at)
        record = revoke_sql.RevocationEvent(**values)
        with sql.session_for_write() as session:
            session.add(record)
        return record.id

    def revoke(self, **values):
        """Revoke as another worker does: commit, then change the stamp."""
        row_id = self.write(**values)
        revoked_at = timeutils.utcnow().replace(microsecond=0)
        self.cache.row = stamp.Row(row_id, revoked_at)
        self.cache.id += 1
        return row_id

    def delete(self, *conditions):
        """Delete rows, all unless told which."""
        with self.engine.begin() as connection:
            connection.execute(self.table.delete().where(*conditions))

    def token(self, **values):
        """Values of a token issued a minute ago."""
        issued_at = timeutils.utcnow() - datetime.timedelta(minutes=1)
        return {**revoke_model.blank_token_data(issued_at), **values}

    def statements(self):
        """List that receives each query of the table from now on."""
        found = []

        def note(connection, cursor, statement, *_):
            if re.match(r'SELECT\b.*\brevocation_event\b', statement, re.S):
                found.append(statement)

        event = (self.engine, 'before_cursor_execute', note)
        sqlalchemy.event.listen(*event)
        self.addCleanup(sqlalchemy.event.remove, *event)
        return found

    def rename(self, old, new):
        """Rename a table: what is away cannot be read."""
        with self.engine.begin() as connection:
            connection.exec_driver_sql(f'ALTER TABLE {old} RENAME TO {new}')

    def take_away(self):
        self.rename('revocation_event', 'away')

    def bring_back(self):
        self.rename('away', 'revocation_event')

    def assertRevoked(self, events, **values):
        self.assertTrue(events.is_revoked(self.token(**values)), values)

    def assertValid(self, events, **values):
        self.assertFalse(events.is_revoked(self.token(**values)), values)

    def assertFails(self, events, **values):
        self.assertRaises(
            db_exception.DBError, events.is_revoked, self.token(**values)
        )
