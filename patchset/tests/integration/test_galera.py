# SPDX-License-Identifier: Apache-2.0

"""The replica of the revocation events on the nodes of a Galera cluster.

A node can be held back: it has received what another committed, and does not
show it yet. That is the moment in which a revoked token could pass.
"""

import concurrent.futures
import functools
import pathlib
import subprocess
import sys
import threading
import time
import uuid

import fixtures

from patchset import child
from patchset.services import galera
from patchset.services import memcached
from patchset.tests.integration import base

ROUNDS = 300
PATIENCE = 30
BACKLOG = 8000
MONTH = 30 * 24 * 60 * 60  # seconds


class _TwoNodes:
    """What holds on any cluster; a subclass sets it up."""

    options = ()  # of the servers

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.cluster = cls.enterClassContext(
            galera.Cluster(options=cls.options)
        )
        cls.here, cls.there = cls.cluster.nodes
        cls.cache = cls.enterClassContext(memcached.Memcached())

    def setUp(self):
        super().setUp()
        database = f'k{uuid.uuid4().hex}'
        self.urls = [one.url(database) for one in self.cluster.nodes]
        self.engines = [self.connect(url) for url in self.urls]
        self.cache.flush()
        self.background = self.enterContext(
            concurrent.futures.ThreadPoolExecutor(8)
        )

    def on(self, node, shared=True, **revoke):
        """A worker on a node, which has a replica of the table."""
        cache = self.cache.address if shared else None
        worker = self.worker(self.urls[node], cache, **revoke)
        self.assertValid(worker, user_id='nobody')
        return worker

    def check_while_held_back(self, worker, act, **values):
        """The answer to a check that begins before the node shows a row.

        :param act: callable, commits on the other node
        """
        with self.there.replication_paused():
            act()
            answer = self.background.submit(worker.check, **values)
            while not (answer.done() or self.is_asked(self.there)):
                time.sleep(0.02)
        return answer.result(PATIENCE)

    def is_asked(self, node):
        """Whether a query on the table is under way."""
        return node.query(
            'SELECT id FROM information_schema.processlist '
            "WHERE command = 'Query' AND id <> connection_id() "
            "AND info LIKE '%FROM revocation_event%'"
        )

    def test_row_that_the_stamp_does_not_name(self):
        # So writes a Keystone that has no replica.
        here, there = self.on(0), self.on(1)

        def act():
            self.write(self.engines[0], self.row(user_id='a'))
            here.ask('invalidate')

        answer = self.check_while_held_back(there, act, user_id='a')
        self.assertEqual('revoked', answer)

    def test_row_without_a_stamp(self):
        there = self.on(1)

        def act():
            self.write(self.engines[0], self.row(user_id='a'))
            time.sleep(base.BOUND)

        answer = self.check_while_held_back(there, act, user_id='a')
        self.assertEqual('revoked', answer)

    def test_node_without_the_majority(self):
        here, there, patient = self.on(0), self.on(1), self.patient()
        self.assertIsNone(here.revoke(user_id='a'))
        for worker in (there, patient):
            self.assertRevoked(worker, user_id='a')
        with self.there.isolated():
            self.check_without_node(here, there, patient)
        self.check_with_node_again(here, there, patient)

    def patient(self):
        """A worker whose bound is not over when a node has left."""
        return self.on(1, sync_interval=600)

    def check_without_node(self, here, there, patient):
        time.sleep(base.BOUND)
        for user_id in ('a', 'b', 'c'):
            # Past the bound: neither accepted nor refused.
            self.assertIn('failed: DB', there.check(user_id=user_id))
        # Within it, and nothing was revoked meanwhile.
        self.assertRevoked(patient, user_id='a')
        self.assertValid(patient, user_id='b')
        self.assertIsNone(here.revoke(user_id='b'))
        # Something was, and it cannot be read.
        for user_id in ('a', 'b', 'c'):
            self.assertIn('failed: DB', patient.check(user_id=user_id))
            self.assertIn('failed: DB', there.check(user_id=user_id))
        self.assertRevoked(here, user_id='b')
        self.assertValid(here, user_id='c')

    def check_with_node_again(self, here, there, patient):
        for worker in (here, there, patient):
            self.eventually('revoked', worker, PATIENCE, user_id='b')
            self.assertRevoked(worker, user_id='a')
            self.assertValid(worker, user_id='c')
        self.run_rounds(here, there, 10)


class GaleraTestCase(_TwoNodes, base.WorkerTestCase):
    def test_row_that_the_stamp_names(self):
        here, there = self.on(0), self.on(1)
        for number in range(5):
            user_id = f'user {number}'
            act = functools.partial(here.revoke, user_id=user_id)
            answer = self.check_while_held_back(there, act, user_id=user_id)
            self.assertEqual('revoked', answer)

    def test_it_would_pass_without_the_wait(self):
        # This shows that the other tests can fail.
        here, there = self.on(0), self.on(1)
        there.ask('wait', False)

        def act():
            self.write(self.engines[0], self.row(user_id='a'))
            here.ask('invalidate')

        answer = self.check_while_held_back(there, act, user_id='a')
        self.assertEqual('valid', answer)
        there.ask('wait', True)
        time.sleep(base.BOUND)
        self.assertRevoked(there, user_id='a')

    def test_first_check(self):
        self.on(0)
        there = self.worker(self.urls[1], self.cache.address)
        answer = self.check_while_held_back(
            there,
            lambda: self.write(self.engines[0], self.row(user_id='a')),
            user_id='a',
        )
        self.assertEqual('revoked', answer)

    def test_without_a_shared_cache(self):
        here, there = self.on(0, shared=False), self.on(1, shared=False)
        answer = self.check_while_held_back(
            there, lambda: here.revoke(user_id='a'), user_id='a'
        )
        self.assertEqual('revoked', answer)
        self.run_rounds(here, there, ROUNDS // 5)

    def test_revoked_on_one_refused_on_the_other_at_once(self):
        self.run_rounds(self.on(0), self.on(1), ROUNDS)

    def test_revocations_on_both_nodes_at_once(self):
        writers = [self.on(node) for node in (0, 0, 1, 1)]
        watchers = [self.on(node) for node in (0, 1)]
        self.run_writers(writers, watchers, ROUNDS // 2)
        for watcher in watchers:
            self.assertEqual(4 * (ROUNDS // 2), watcher.ask('rows'))

    def test_revocations_and_prunes_on_both_nodes_at_once(self):
        # Each prunes for itself, as they share no cache.
        revokers = [
            self.on(node, shared=False, prune_interval=1)
            for node in (0, 0, 1, 1)
        ]
        backlog = [
            self.row(-number, user_id='old')
            for number in range(MONTH, MONTH + BACKLOG)
        ]
        self.write(self.engines[0], *backlog)
        over = threading.Event()

        def revoke(name):
            answers = []
            while not (over.is_set() and answers):
                user_id = f'{name} {len(answers)}'
                answers.append(revokers[name].revoke(user_id=user_id))
            return answers

        runs = [self.background.submit(revoke, name) for name in range(4)]
        try:
            pruners = list(self.background.map(self.prune, (0, 0, 1, 1)))
        finally:
            over.set()
        for pruner in pruners:
            # Done, or given up because the others were faster.
            self.assertIn(pruner.returncode, (0, 1, 5), pruner.stdout)
        for run in runs:
            self.assertEqual({None}, set(run.result()))
        last = self.prune(0, '1')
        self.assertIn(last.returncode, (0, 1), last.stdout)
        for name, run in enumerate(runs):
            live = len(run.result())
            with self.engines[1].connect() as connection:
                connection.exec_driver_sql('SET wsrep_sync_wait = 1')
                self.assertEqual(
                    live, self.count(connection, f"user_id LIKE '{name} %%'")
                )
                self.assertEqual(0, self.count(connection, "user_id = 'old'"))

    def prune(self, node, pause='0'):
        """Run the command that deletes what has expired to its end."""
        folder = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        file = folder / 'keystone.conf'
        file.write_text(f'[database]\nconnection = {self.urls[node]}\n')
        program = 'from keystone.cmd import manage; manage.main()'
        return child.finish(
            [
                sys.executable, '-P', '-Wignore', '-c', program,
                '--config-file', file, 'revocation_prune',
                '--until-complete', '--batch-size=20', f'--sleep={pause}',
            ],
            env={'PYTHONPATH': str(base.tree())},
            stderr=subprocess.STDOUT,
        )  # fmt: skip

    def test_commits_out_of_id_order(self):
        here, there = self.on(0), self.on(1)
        for number in range(20):
            early, late = f'early {number}', f'late {number}'
            node = number % 2
            with self.engines[node].begin() as slow:
                self.insert(slow, self.row(user_id=early))
                # Taken from the steps of the other node.
                writer = (there, here)[node]
                for step in range(3):
                    failure = writer.revoke(user_id=f'{late} {step}')
                    self.assertIsNone(failure)
                    for worker in (here, there):
                        self.assertRevoked(worker, user_id=f'{late} {step}')
                        self.assertValid(worker, user_id=early)
            (here, there)[node].ask('invalidate')
            for worker in (here, there):
                self.assertRevoked(worker, user_id=early)
        with self.engines[0].connect() as connection:
            query = 'SELECT user_id, id FROM revocation_event'
            ids = dict(connection.exec_driver_sql(query).all())
        for number in range(20):
            self.assertLess(ids[f'early {number}'], ids[f'late {number} 2'])
        self.assertEqual({0, 1}, {row_id % 2 for row_id in ids.values()})

    def test_node_that_is_down(self):
        here, there, patient = self.on(0), self.on(1), self.patient()
        self.assertIsNone(here.revoke(user_id='a'))
        for worker in (there, patient):
            self.assertRevoked(worker, user_id='a')
        with self.there.stopped(self.there.stop_signal):
            self.check_without_node(here, there, patient)
        self.check_with_node_again(here, there, patient)


class DirtyReadsTestCase(_TwoNodes, base.WorkerTestCase):
    """Nodes that are set to answer reads whatever they have."""

    options = ('--wsrep-dirty-reads=ON',)
