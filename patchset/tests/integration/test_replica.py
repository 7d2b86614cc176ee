# SPDX-License-Identifier: Apache-2.0

"""The replica of the revocation events against real servers.

Each worker is a process of its own; databases and caches are those of the
distribution. Nothing revoked may pass once the bound is over, nothing that is
not revoked may be refused, and no worker may end.
"""

import time
import uuid

import sqlalchemy

from patchset.services import mariadb
from patchset.services import memcached
from patchset.services import postgresql
from patchset.tests.integration import base

ROUNDS = 500
ROWS = 100_000
PATIENCE = 30


class _ReplicaTests(base.DatabaseMixin):
    """What holds on each database; a subclass names it."""

    def write_row(self, seconds=0, **values):
        self.write(self.engine, self.row(seconds, **values))

    def run_sql(self, statement):
        with self.engine.begin() as connection:
            connection.execute(sqlalchemy.text(statement))

    def test_revoked_on_one_refused_on_the_other_at_once(self):
        one, other = self.workers()
        self.run_rounds(one, other, ROUNDS, 'audit_id')
        # The last to check, which has read them all.
        self.assertEqual(ROUNDS, one.ask('rows'))

    def test_without_a_shared_cache(self):
        one, other = (self.worker(self.url) for _ in range(2))
        self.run_rounds(one, other, ROUNDS // 5, 'audit_id')

    def test_row_without_a_stamp(self):
        one, other = self.workers()
        self.write_row(user_id='a')
        time.sleep(base.BOUND)
        self.assertRevoked(one, user_id='a')
        self.assertRevoked(other, user_id='a')

    def test_commits_out_of_id_order(self):
        self.workers_table()
        # Each revocation prunes, and locks the first row it leaves.
        self.write_row(-600, user_id='old')
        one, other = self.workers()
        for number in range(20):
            early, late = f'early {number}', f'late {number}'
            with self.engine.begin() as slow:
                self.insert(slow, self.row(user_id=early))
                self.assertIsNone(one.revoke(user_id=late))
                self.assertRevoked(other, user_id=late)
                self.assertValid(other, user_id=early)
            one.ask('invalidate')
            self.assertRevoked(other, user_id=early)
            self.assertRevoked(one, user_id=early)

    def test_clocks_skewed_by_five_seconds(self):
        one, other = self.workers()
        for seconds in (5, -5, 0, 5, -5, 3, -4):
            user_id = uuid.uuid4().hex
            self.write_row(seconds, user_id=user_id)
            one.ask('invalidate')
            self.assertRevoked(other, user_id=user_id)
            self.assertRevoked(one, user_id=user_id)

    def test_clock_of_a_node_is_wrong_by_up_to_an_hour(self):
        other, wrong, another = self.workers(3)
        apart = self.worker(self.url)
        self.assertValid(apart, user_id='nobody')
        for seconds in (-90, -600, -3600, 90, 3600, 0):
            wrong.ask('clock', seconds)
            user_id = f'clock {seconds}'
            self.assertIsNone(wrong.revoke(user_id=user_id))
            # The stamp names the row of this one.
            self.assertIsNone(another.revoke(user_id=f'next {seconds}'))
            self.assertRevoked(other, user_id=user_id)
            self.assertRevoked(wrong, user_id=user_id)
            self.eventually('revoked', apart, base.BOUND, user_id=user_id)

    def test_clock_of_the_reader_is_wrong_for_a_while(self):
        one, other = self.workers()
        self.assertIsNone(one.revoke(user_id='before'))
        for seconds in (5600, -5600, 30 * 86400):
            other.ask('clock', seconds)
            one.ask('invalidate')
            other.check(user_id='nobody')
            other.ask('clock', 0)
            user_id = f'clock {seconds}'
            self.assertIsNone(one.revoke(user_id=user_id))
            self.assertRevoked(other, user_id=user_id)
            self.assertRevoked(other, user_id='before')

    def test_transaction_longer_than_the_overlap(self):
        one, other = self.workers(sync_overlap=1)
        with self.engine.begin() as slow:
            self.insert(slow, self.row(user_id='slow'))
            for number in range(3):
                self.assertIsNone(one.revoke(user_id=f'quick {number}'))
                self.assertRevoked(other, user_id=f'quick {number}')
                time.sleep(1)
        one.ask('invalidate')
        self.assertIsNone(one.revoke(user_id='next'))
        self.assertRevoked(other, user_id='slow')
        self.assertRevoked(one, user_id='slow')

    def test_row_that_never_comes(self):
        one, other = self.workers(sync_interval=PATIENCE)
        for row_id in (10**9, 10**9, 1):
            one.ask('forge', row_id)
            began = time.monotonic()
            self.assertValid(other, user_id='a')
            # No more than the query: it does not wait for the row.
            self.assertLess(time.monotonic() - began, PATIENCE / 10)
        self.assertIsNone(one.revoke(user_id='a'))
        one.ask('forge', 10**9)
        self.assertRevoked(other, user_id='a')

    def test_rows_deleted_by_an_operator(self):
        for number in range(10):
            self.workers_table()
            self.write_row(-600, user_id=f'old {number}')
        (one,) = self.workers(1, recount_interval=1)
        self.assertRevoked(one, user_id='old 3')
        # Rows of the last minute are not counted: they may be on their way.
        self.write_row(user_id='new')
        self.run_sql("DELETE FROM revocation_event WHERE user_id = 'old 3'")
        self.eventually('valid', one, PATIENCE, user_id='old 3')
        self.assertRevoked(one, user_id='old 4')
        self.assertRevoked(one, user_id='new')

    def workers_table(self):
        """Make the table, as the first worker does."""
        if not sqlalchemy.inspect(self.engine).has_table('revocation_event'):
            self.worker(self.url)

    def test_table_truncated(self):
        self.workers_table()
        self.write_row(-600, user_id='old')
        one, other = self.workers(recount_interval=1)
        for number in range(5):
            one.revoke(user_id=f'before {number}')
        self.assertRevoked(other, user_id='before 4')
        self.run_sql('TRUNCATE TABLE revocation_event' + self.restart_identity)
        time.sleep(1)
        for number in range(5):
            one.revoke(user_id=f'after {number}')
        for number in range(5):
            self.assertRevoked(other, user_id=f'after {number}')
        self.eventually('valid', other, PATIENCE, user_id='old')
        for number in range(5):
            self.assertRevoked(other, user_id=f'after {number}')
            self.assertRevoked(one, user_id=f'after {number}')

    def test_cache_emptied(self):
        one, other = self.workers()
        one.revoke(user_id='a')
        self.cache.flush()
        self.assertRevoked(other, user_id='a')
        one.revoke(user_id='b')
        self.cache.flush()
        self.assertRevoked(other, user_id='b')
        self.assertValid(other, user_id='c')

    def test_cache_unreachable_and_back(self):
        one, other = self.workers()
        one.revoke(user_id='before')
        self.assertRevoked(other, user_id='before')
        self.cache.kill()
        try:
            self.assertIsNone(one.revoke(user_id='without'))
            self.assertRevoked(other, user_id='without')
            self.assertRevoked(other, user_id='before')
            self.assertValid(other, user_id='c')
        finally:
            self.cache.start_again()
        # A client may take a while to see that the server is back, and
        # reads another stamp than its peers until then.
        for number in range(10):
            user_id = f'back {number}'
            self.assertIsNone(one.revoke(user_id=user_id))
            self.eventually('revoked', other, base.BOUND, user_id=user_id)
            self.assertValid(other, user_id='c')

    def test_two_caches_that_disagree(self):
        with memcached.Memcached() as second:
            one = self.worker(self.url, self.cache.address)
            other = self.worker(self.url, second.address)
            for number in range(3):
                user_id = f'user {number}'
                self.assertValid(other, user_id=user_id)
                self.assertIsNone(one.revoke(user_id=user_id))
                self.assertRevoked(one, user_id=user_id)
                time.sleep(base.BOUND)
                self.assertRevoked(other, user_id=user_id)

    def test_database_stopped_and_started(self):
        one, other = self.workers()
        (patient,) = self.workers(1, sync_interval=600)
        one.revoke(user_id='a')
        for worker in (one, other, patient):
            self.assertRevoked(worker, user_id='a')
        # These servers write a commit to their files a second later.
        time.sleep(2)
        self.server.kill()
        try:
            self.assertRevoked(patient, user_id='a')
            self.assertValid(patient, user_id='b')
            time.sleep(base.BOUND)
            for user_id in ('a', 'b'):
                self.assertStartsWith('failed', other.check(user_id=user_id))
                self.assertStartsWith('failed', one.check(user_id=user_id))
        finally:
            self.engine.dispose()
            self.server.start_again()
        self.eventually('revoked', other, PATIENCE, user_id='a')
        self.eventually('revoked', one, PATIENCE, user_id='a')
        self.assertValid(other, user_id='b')
        self.assertIsNone(one.revoke(user_id='b'))
        for worker in (other, patient):
            self.assertRevoked(worker, user_id='b')

    def assertStartsWith(self, start, text):
        self.assertEqual(start, text[: len(start)])

    def test_many_writers(self):
        *writers, watcher = self.workers(3)
        self.run_writers(writers, [watcher], 100)

    def test_load_of_many_rows(self):
        self.workers_table()
        rows = [
            self.row(-number % 3600 - 60, audit_chain_id=uuid.uuid4().hex[:22])
            for number in range(ROWS)
        ]
        with self.engine.begin() as connection:
            for first in range(0, ROWS, 1000):
                self.insert(connection, *rows[first : first + 1000])
        worker = self.worker(self.url, self.cache.address)
        name = {'audit_chain_id': rows[7]['audit_chain_id']}
        deadline = time.monotonic() + PATIENCE
        # Meanwhile the database is asked.
        while not (loaded := worker.ask('rows')):
            self.assertLess(time.monotonic(), deadline)
            self.assertRevoked(worker, **name)
            self.assertValid(worker, user_id='nobody')
        self.assertEqual(ROWS, loaded)
        self.assertRevoked(worker, **name)
        self.assertValid(worker, user_id='nobody')


class MariaDBReplicaTestCase(_ReplicaTests, base.WorkerTestCase):
    kind = mariadb.MariaDB
    restart_identity = ''

    def test_id_by_which_the_database_finds_another_spelling(self):
        one, other = self.workers()
        asking = self.worker(
            self.url, self.cache.address, max_events_in_memory=0
        )
        for name in ('user_id', 'project_id'):
            for blanks in ('', '  '):
                given = uuid.uuid4().hex
                one.revoke(**{name: given.upper() + blanks})
                for worker in (one, other, asking):
                    self.assertRevoked(worker, **{name: given})
                    self.assertValid(worker, **{name: given[:-1]})


class PostgreSQLReplicaTestCase(_ReplicaTests, base.WorkerTestCase):
    kind = postgresql.PostgreSQL
    restart_identity = ' RESTART IDENTITY'


class SerializableReplicaTestCase(PostgreSQLReplicaTestCase):
    """Every transaction may fail for a conflict with another one."""

    settings = {'default_transaction_isolation': 'serializable'}
