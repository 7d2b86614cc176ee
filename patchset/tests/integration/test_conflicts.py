# SPDX-License-Identifier: Apache-2.0

"""The replica and pruning while the database aborts transactions.

At the isolation level SERIALIZABLE, a transaction that conflicts with another
one fails with SQLSTATE 40001, and is expected to be repeated. CockroachDB does
so at any load. Here PostgreSQL is made to: of seven reads and writes of a
connection, one fails. The same tests, without that, run on a database at
hand, which ``./ks test integration --database-url`` names.
"""

import datetime
import os
import sys
import uuid

import sqlalchemy
import testtools

from patchset.services import memcached
from patchset.services import postgresql
from patchset.test_parts import integration
from patchset.tests.integration import base

ROUNDS = 50
EXPIRED = 300
SECONDS = 5
AGE = datetime.timedelta(days=30)

# URL of the database at hand.
_GIVEN = os.environ.get(integration.DATABASE_URL)

# A view is read through a function, and a trigger calls it for what is
# written. A sequence is not reset by an aborted transaction. Each connection
# takes seven numbers at a time: whatever the others do, it fails once, and
# then has six for a transaction that is repeated. A statement with subqueries
# takes several. Repeated, a transaction may use another connection of the
# pool, so it fails as many times in a row as that has connections.
_INJECTION = """
CREATE SEQUENCE statements CACHE 7;
CREATE SEQUENCE failures;
CREATE FUNCTION may_fail() RETURNS boolean LANGUAGE plpgsql VOLATILE AS $$
BEGIN
    IF mod(nextval('statements'), 7) = 0 THEN
        PERFORM nextval('failures');
        RAISE EXCEPTION 'restart transaction' USING ERRCODE = '40001';
    END IF;
    RETURN true;
END $$;
CREATE FUNCTION may_fail_trigger() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM may_fail();
    RETURN NULL;
END $$;
ALTER TABLE revocation_event RENAME TO all_events;
CREATE VIEW revocation_event AS
    SELECT * FROM all_events WHERE (SELECT may_fail());
CREATE TRIGGER may_fail BEFORE INSERT ON all_events
    FOR EACH STATEMENT EXECUTE FUNCTION may_fail_trigger();
"""


class _ConflictTests:
    """What holds on each database; a subclass prepares it."""

    table = 'revocation_event'  # to count the rows of

    def setUp(self):
        super().setUp()
        # It makes the table.
        self.worker(self.url)
        rows = [
            self.row(-AGE.total_seconds() - number, user_id='expired')
            for number in range(EXPIRED)
        ]
        self.write(self.engine, *rows)

    def live(self):
        """Number of events that have not expired."""
        with self.engine.connect() as connection:
            return connection.exec_driver_sql(
                f"SELECT count(*) FROM {self.table} WHERE user_id <> 'expired'"
            ).scalar()

    def test_revoked_on_one_refused_on_the_other_at_once(self):
        self.run_rounds(*self.workers(), ROUNDS)
        self.assertEqual(ROUNDS, self.live())

    def test_without_a_shared_cache(self):
        one, other = (self.worker(self.url) for _ in range(2))
        self.run_rounds(one, other, ROUNDS)

    def test_events_that_are_not_in_memory(self):
        self.run_rounds(*self.workers(max_events_in_memory=1), ROUNDS)

    def test_many_writers(self):
        *writers, watcher = self.workers(3)
        self.run_writers(writers, [watcher], ROUNDS)

    def test_pruning(self):
        workers = self.workers(prune_interval=0)
        for worker in workers:
            worker.tell('prune_for', SECONDS)
        found = [worker.answer() for worker in workers]
        self.assertEqual(EXPIRED, sum(pruned for pruned, _ in found))
        self.assertEqual(0, self.live())
        return sum(given_up for _, given_up in found)


class InjectedConflictTests(
    _ConflictTests, base.DatabaseMixin, base.WorkerTestCase
):
    """PostgreSQL, where statements fail."""

    kind = postgresql.PostgreSQL
    settings = {'default_transaction_isolation': 'serializable'}
    table = 'all_events'

    def setUp(self):
        super().setUp()
        with self.engine.begin() as connection:
            connection.exec_driver_sql(_INJECTION)
        self.addCleanup(self.check_that_statements_failed)

    def check_that_statements_failed(self):
        with self.engine.connect() as connection:
            failures = connection.exec_driver_sql(
                'SELECT last_value FROM failures'
            ).scalar()
        self.assertGreater(failures, 10)

    def test_pruning(self):
        self.assertLess(0, super().test_pruning())


@testtools.skipUnless(_GIVEN, 'requires --database-url')
class GivenDatabaseTests(_ConflictTests, base.WorkerTestCase):
    """The database at hand, as it is."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.cache = cls.enterClassContext(memcached.Memcached())

    def setUp(self):
        try:
            server = sqlalchemy.create_engine(
                _GIVEN, isolation_level='AUTOCOMMIT'
            )
        except sqlalchemy.exc.NoSuchModuleError as error:
            self.fail(
                f'{error}. For CockroachDB: {sys.executable} -m pip install '
                'sqlalchemy-cockroachdb'
            )
        name = f'ks_{uuid.uuid4().hex}'
        self.addCleanup(server.dispose)
        with server.connect() as connection:
            connection.exec_driver_sql(f'CREATE DATABASE {name}')
        # By then, nothing is connected to it.
        self.addCleanup(self.drop, server, name)
        self.url = server.url.set(database=name).render_as_string(
            hide_password=False
        )
        self.engine = self.connect(self.url)
        super().setUp()

    def drop(self, server, name):
        with server.connect() as connection:
            connection.exec_driver_sql(f'DROP DATABASE {name}')
