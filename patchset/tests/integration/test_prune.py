# SPDX-License-Identifier: Apache-2.0

"""Pruning of revocation events against real servers.

Several processes delete and several revoke, on the databases of the
distribution. ``KS_SECONDS`` sets how long.
"""

import datetime
import os
import time

import sqlalchemy

from patchset.services import mariadb
from patchset.services import memcached
from patchset.services import postgresql
from patchset.tests.integration import base

SECONDS = int(os.environ.get('KS_SECONDS', 10))
PRUNERS = 4
REVOKERS = 8
PATIENCE = 60
BATCH = 50  # of the service
AGE = datetime.timedelta(days=30)
SECOND = datetime.timedelta(seconds=1)

BACKENDS = (
    'dogpile.cache.memcached',
    'dogpile.cache.pymemcache',
    'oslo_cache.memcache_pool',
)


class _PruneTests(base.DatabaseMixin):
    """What holds on each database; a subclass names it."""

    def start(self, number, *args, **kwargs):
        """Start workers at once, and wait for all of them."""
        kwargs.setdefault('prune_interval', 0)
        # The first makes the table.
        first = self.launch(self.url, *args, **kwargs).ready()
        others = [
            self.launch(self.url, *args, **kwargs) for _ in range(number - 1)
        ]
        return [first, *(worker.ready() for worker in others)]

    def some(self, number, user_id, age=AGE):
        """Rows, each of a second of its own."""
        row = self.row(-age.total_seconds(), user_id=user_id)
        return [
            {**row, 'revoked_at': row['revoked_at'] - count * SECOND}
            for count in range(number)
        ]

    def write_some(self, *args):
        self.write(self.engine, *self.some(*args))

    def rows(self, condition='true'):
        with self.engine.connect() as connection:
            return self.count(connection, condition)

    def expired(self):
        with self.engine.connect() as connection:
            return connection.scalar(
                sqlalchemy.text(
                    'SELECT count(*) FROM revocation_event '
                    'WHERE revoked_at < :moment'
                ),
                {'moment': datetime.datetime.now(datetime.UTC) - AGE / 2},
            )

    def test_many_prune_and_many_revoke(self):
        workers = self.start(PRUNERS + REVOKERS, prune_interval=1)
        pruners, revokers = workers[:PRUNERS], workers[PRUNERS:]
        backlog = 2000 * SECONDS
        self.write_some(backlog, 'backlog')
        before = self.trouble()

        for pruner in pruners:
            pruner.tell('prune_for', SECONDS)
        for revoker in revokers:
            revoker.tell('revoke_for', SECONDS)
        live = written = 0
        for revoker in revokers:
            more_live, more_expired, failures = revoker.answer()
            self.assertEqual([], failures)
            live += more_live
            written += more_expired
        pruned = sum(pruner.answer()[0] for pruner in pruners)
        pruned += sum(revoker.ask('pruned')[1] for revoker in revokers)

        self.assertEqual(before, self.trouble())
        self.assertEqual(live, self.rows() - self.expired())
        self.assertEqual(backlog + written, pruned + self.expired())
        self.assertLess(0, live)
        self.assertLess(SECONDS * 100, pruned)
        # Rows locked at the end are released by now.
        while True:
            found, deleted, given_up = pruners[0].ask('prune', 1000)
            self.assertEqual((found, None), (deleted, given_up))
            pruned += deleted
            if not found:
                break
        self.assertEqual(backlog + written, pruned)
        self.assertEqual(live, self.rows())

    def test_an_open_batch_is_in_nobodys_way(self):
        for backlog in (20, 20_000):
            holder, other = self.start(2)
            self.write_some(backlog, 'backlog')
            self.write_some(5, 'live', datetime.timedelta(0))
            before = self.trouble()

            self.assertEqual('holding', holder.ask('hold', 10))
            self.assertReadCommitted()
            # In the same second as a row that is held, too.
            self.assertIsNone(other.ask('revoke', {'user_id': 'new'}))
            self.assertEqual([10, 10, None], other.ask('prune', 10))
            self.assertEqual([10, 10, None], holder.ask('go on'))

            self.assertEqual(before, self.trouble())
            self.assertEqual(backlog - 20, self.expired())
            self.assertEqual(6, self.rows("user_id IN ('live', 'new')"))
            self.drop()

    def drop(self):
        with self.engine.begin() as connection:
            connection.exec_driver_sql('DELETE FROM revocation_event')

    def test_an_open_revocation_is_not_waited_for(self):
        (worker,) = self.start(1)
        for backlog in (1, 20, 300):
            self.write_some(backlog, 'backlog')
            before = self.trouble()
            with self.engine.begin() as connection:
                self.insert(
                    connection, *self.some(5, 'open', datetime.timedelta(0))
                )

                self.assertEqual(
                    [backlog, backlog, None], worker.ask('prune', 1000)
                )

                self.assertEqual([0, 0, None], worker.ask('prune', 1000))
            self.assertEqual(before, self.trouble())
            self.assertEqual(5, self.rows())
            self.drop()

    def test_killed_in_the_middle(self):
        holder, other = self.start(2)
        self.write_some(300, 'backlog')
        self.write_some(5, 'live', datetime.timedelta(0))
        self.assertEqual('holding', holder.ask('hold', 100))

        holder.kill()

        self.assertIsNone(other.ask('revoke', {'user_id': 'new'}))
        pruned = 0
        end = time.monotonic() + PATIENCE
        # The server notices soon that the connection is gone.
        while pruned < 300:
            found, deleted, given_up = other.ask('prune', 1000)
            self.assertEqual((found, None), (deleted, given_up))
            pruned += deleted
            self.assertLess(time.monotonic(), end)
        self.assertEqual(300, pruned)
        self.assertEqual(0, self.expired())
        self.assertEqual(6, self.rows())

    def test_a_batch_reads_only_what_it_deletes(self):
        (worker,) = self.start(1)
        for backlog in (1000, 50_000):
            self.write_some(backlog, 'backlog')
            found, settings = worker.ask('cost', 100)
            self.assertCost(100, found)
            self.assertEqual(self.usual_settings(), settings)
            self.assertEqual(backlog - 100, self.expired())
            self.drop()

    def test_one_of_those_that_share_a_cache(self):
        for backend in BACKENDS:
            workers = self.start(
                3, self.cache.address, backend, prune_interval=1000
            )
            self.assertPruners(1, workers)
            self.cache.flush()

    def test_each_of_those_that_share_none(self):
        self.assertPruners(3, self.start(3, prune_interval=1000))

    def test_each_while_the_cache_is_down(self):
        with memcached.Memcached() as cache:
            address = cache.address
        # pymemcache's client makes the revocation itself fail, as ever.
        for backend in ('dogpile.cache.memcached', 'oslo_cache.memcache_pool'):
            workers = self.start(3, address, backend, prune_interval=1000)
            self.assertPruners(3, workers)

    def assertPruners(self, number, workers):
        """``number`` of these workers prune after two revocations each."""
        self.write_some(1000, 'backlog')
        for _ in range(2):
            for worker in workers:
                self.assertIsNone(worker.ask('revoke', {'user_id': 'a'}))
        pruned = [worker.ask('pruned') for worker in workers]
        self.assertEqual(number, sum(batches for batches, _ in pruned))
        self.assertEqual(1000 - BATCH * number, self.expired())
        self.drop()


class MariaDBPruneTestCase(_PruneTests, base.WorkerTestCase):
    kind = mariadb.MariaDB

    def trouble(self):
        """Deadlocks, and waits for locks of rows, so far."""
        rows = self.server.query(
            "SHOW GLOBAL STATUS WHERE Variable_name IN ('Innodb_deadlocks', "
            "'Innodb_row_lock_waits')"
        )
        return {name: int(value) for name, value in rows}

    def assertReadCommitted(self):
        self.assertEqual(
            [['READ COMMITTED']],
            self.server.query(
                'SELECT trx_isolation_level FROM information_schema.innodb_trx'
            ),
        )

    def assertCost(self, limit, found):
        # Each row once by its place in the index and once by its id, and the
        # statement that counts.
        self.assertLess(sum(found.values()), 2 * limit + 50, found)

    def usual_settings(self):
        return [[50, 86400, 'REPEATABLE-READ']]


class PostgreSQLPruneTestCase(_PruneTests, base.WorkerTestCase):
    kind = postgresql.PostgreSQL

    def trouble(self):
        """Deadlocks so far."""
        return self.server.query('SELECT sum(deadlocks) FROM pg_stat_database')

    def assertReadCommitted(self):
        # Gaps are not locked at any level that it has.
        pass

    def assertCost(self, limit, found):
        select, delete = found
        nodes = list(self.nodes(select))
        self.assertIn(
            'ix_revocation_event_revoked_at',
            {node.get('Index Name') for node in nodes},
        )
        for node in nodes:
            self.assertLessEqual(node['Actual Rows'], limit, node)
            self.assertEqual(0, node.get('Rows Removed by Filter', 0), node)
        names = {node.get('Index Name') for node in self.nodes(delete)}
        self.assertIn('revocation_event_pkey', names)

    def nodes(self, plan):
        yield plan
        for part in plan.get('Plans', ()):
            yield from self.nodes(part)

    def usual_settings(self):
        return [['0', 'on', 'on']]


class SerializablePruneTestCase(PostgreSQLPruneTestCase):
    """Every other transaction may fail for a conflict with another one."""

    settings = {'default_transaction_isolation': 'serializable'}
