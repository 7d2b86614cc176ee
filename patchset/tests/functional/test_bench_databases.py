# SPDX-License-Identifier: Apache-2.0

"""Tests of what the measurements do with databases."""

import os
import pathlib
import time

import fixtures
import testtools

from bench import databases
from bench import events
from patchset.services import galera

_PATIENCE = 300  # seconds
_DELAY = 1.5  # seconds; a machine that is busy answers in less


_COLUMNS = """
    domain_id VARCHAR(64), project_id VARCHAR(64), user_id VARCHAR(64),
    role_id VARCHAR(64), trust_id VARCHAR(64), consumer_id VARCHAR(64),
    access_token_id VARCHAR(64), audit_id VARCHAR(32),
    audit_chain_id VARCHAR(32), expires_at TIMESTAMP NULL,
    issued_before TIMESTAMP NULL, revoked_at TIMESTAMP NULL
"""


class Side:
    """The part of a side that the events need."""

    def __init__(self, database):
        self.database = database

    def query(self, statement):
        return self.database.query(statement, 'side')


class _Events:
    """Events of the table, for each database."""

    key = None

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.database = cls.enterClassContext(databases.ALL[cls.name]())
        cls.database.url('side')

    def setUp(self):
        super().setUp()
        self.side = Side(self.database)
        for name in ('revocation_event', 'saved_audit'):
            self.side.query(f'DROP TABLE IF EXISTS {name}')
        self.side.query(
            f'CREATE TABLE revocation_event (id {self.key}, {_COLUMNS})'
        )

    def ids(self):
        rows = self.side.query('SELECT id FROM revocation_event ORDER BY id')
        return [int(number) for (number,) in rows]

    def test_each_number_names_something_else(self):
        events.add(self.side, 'chain', 1, 10, 100)
        events.add(self.side, 'chain', 11, 100, 100)
        ((rows, names),) = self.side.query(
            'SELECT COUNT(*), COUNT(DISTINCT audit_chain_id) '
            'FROM revocation_event WHERE audit_id IS NULL'
        )
        self.assertEqual(('100', '100'), (rows, names))

    def test_live_events_are_later_the_later_they_are_added(self):
        events.add(self.side, 'audit', 1, 50, 100)
        ((before,),) = self.side.query(
            'SELECT MAX(revoked_at) FROM revocation_event'
        )
        events.add(self.side, 'audit', 51, 100, 100)
        ((early,),) = self.side.query(
            'SELECT COUNT(*) FROM revocation_event '
            f"WHERE id > 50 AND revoked_at < '{before}'"
        )
        self.assertEqual('0', early)
        ((dead,),) = self.side.query(
            'SELECT COUNT(*) FROM revocation_event, (SELECT 0 AS seq) AS one '
            f'WHERE revoked_at < {self.database.timestamp(-5400)} '
            f'OR revoked_at > {self.database.timestamp(0)} '
            f'OR issued_before < {self.database.timestamp(0)}'
        )
        self.assertEqual('0', dead)

    def test_saved_events_come_first(self):
        self.side.query(
            'INSERT INTO revocation_event (audit_id, audit_chain_id) VALUES '
            "('b', NULL), (NULL, 'x'), ('a', NULL)"
        )
        self.assertEqual(2, events.save(self.side, 'audit'))
        for _ in range(2):
            events.empty(self.side)
            events.add(self.side, 'audit', 1, 1, 4, 2)
            events.add(self.side, 'audit', 2, 4, 4, 2)
            rows = self.side.query(
                'SELECT audit_id FROM revocation_event WHERE issued_before '
                'IS NOT NULL ORDER BY revoked_at'
            )
            names = [name for (name,) in rows]
            self.assertEqual((4, ['b', 'a']), (len(names), names[:2]))
            self.assertEqual(4, len(set(names)))

    def test_expired_events_are_old(self):
        events.add_expired(self.side, 1000)
        ((recent,),) = self.side.query(
            'SELECT COUNT(*) FROM revocation_event, (SELECT 0 AS seq) AS one '
            f'WHERE revoked_at > {self.database.timestamp(-29 * 24 * 60 * 60)}'
        )
        self.assertEqual('0', recent)
        self.assertEqual(1000, events.number(self.side, 'COUNT(*)'))

    def test_ids_are_not_given_twice(self):
        events.empty(self.side)
        events.add_expired(self.side, 5)
        last = self.ids()[-1]
        for _ in range(2):
            events.empty(self.side)
            self.assertEqual(0, events.number(self.side, 'COUNT(*)'))
        events.add_expired(self.side, 1)
        self.assertGreater(self.ids()[0], last)


class MariaDBEventsTestCase(_Events, testtools.TestCase):
    name = 'mariadb'
    key = 'INTEGER PRIMARY KEY AUTO_INCREMENT'


class PostgreSQLEventsTestCase(_Events, testtools.TestCase):
    name = 'postgresql'
    key = 'SERIAL PRIMARY KEY'


class DistributedGaleraTestCase(testtools.TestCase):
    def test_a_delay_slows_commits_down(self):
        if os.geteuid() != 0:
            self.skipTest('only root can make network namespaces')
        folder = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        folder.chmod(0o711)
        with galera.Cluster(3, folder, share=lambda *_: 1) as cluster:
            cluster.url('side')
            cluster.query('CREATE TABLE t (id INT PRIMARY KEY)', 'side')
            pids = [node.pid for node in cluster.nodes]
            undelayed = self.insert(cluster, 1)
            cluster.set_delay(1000 * _DELAY)
            delayed = self.insert(cluster, 2)
            self.assertGreater(delayed, _DELAY)
            self.assertLess(undelayed, delayed)
            # A read needs no other node.
            start = time.monotonic()
            self.assertEqual(
                [['2']], cluster.query('SELECT COUNT(*) FROM t', 'side')
            )
            self.assertLess(time.monotonic() - start, _DELAY)
            deadline = time.monotonic() + _PATIENCE
            for node in cluster.nodes:
                while node.query('SELECT COUNT(*) FROM t', 'side') != [['2']]:
                    self.assertLess(time.monotonic(), deadline)
        for pid in pids:
            self.assertFalse(pathlib.Path(f'/proc/{pid}').exists())

    def insert(self, cluster, number):
        """Seconds that it takes to insert a row."""
        start = time.monotonic()
        cluster.query(f'INSERT INTO t VALUES ({number})', 'side')
        return time.monotonic() - start


class _Statements:
    """What a database counts, for each."""

    name = None

    def test_reads_and_writes_are_told_apart(self):
        with databases.ALL[self.name]() as server:
            server.url('side')
            server.query('CREATE TABLE t (id INTEGER)', 'side')
            before = server.statements()
            for statement in (
                'INSERT INTO t VALUES (1)',
                'UPDATE t SET id = 2',
                'DELETE FROM t',
                'SELECT COUNT(*) FROM t',
            ):
                server.query(statement, 'side')
            after = server.statements()
        grown = {name: after[name] - before[name] for name in after}
        self.assertEqual(3, grown['writes'])
        # PostgreSQL counts the question itself.
        self.assertIn(grown['reads'], (1, 2))


class MariaDBStatementsTestCase(_Statements, testtools.TestCase):
    name = 'mariadb'


class PostgreSQLStatementsTestCase(_Statements, testtools.TestCase):
    name = 'postgresql'
