# SPDX-License-Identifier: Apache-2.0

"""The private Galera cluster that the tests here use."""

import contextlib
import os
import pathlib
import pwd
import subprocess

import testtools

from patchset import errors
from patchset.services import galera


class ClusterTestCase(testtools.TestCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.cluster = cls.enterClassContext(galera.Cluster(3))

    def test_each_node_is_in_step(self):
        url = self.cluster.nodes[2].url('shown')
        self.assertEqual('shown', url.rpartition('/')[2])
        for node in self.cluster.nodes:
            self.assertEqual([['3']], self.status(node, 'cluster_size'))
            found = node.query(
                "SET wsrep_sync_wait = 1; SHOW DATABASES LIKE 'shown'"
            )
            self.assertEqual([['shown']], found)

    def status(self, node, name):
        return node.query(
            'SELECT variable_value FROM information_schema.global_status '
            f"WHERE variable_name = 'wsrep_{name}'"
        )

    def test_loopback_alone(self):
        pids = {str(node.pid) for node in self.cluster.nodes}
        done = subprocess.run(
            ['ss', '-Hltnp'], capture_output=True, text=True, check=True
        )
        addresses = [
            line.split()[3].rpartition(':')[0]
            for line in done.stdout.splitlines()
            if any(f'pid={pid},' in line for pid in pids)
        ]
        # Each node listens for clients and for the other nodes.
        self.assertEqual(['127.0.0.1'] * 6, addresses)

    def test_unprivileged(self):
        for node in self.cluster.nodes:
            owner = pathlib.Path('/proc', str(node.pid)).stat().st_uid
            name = node.user or pwd.getpwuid(os.geteuid()).pw_name
            self.assertEqual(name, pwd.getpwuid(owner).pw_name)
            self.assertNotEqual(0, owner)

    def test_node_that_was_down_is_in_step_again(self):
        first, _, last = self.cluster.nodes
        with last.stopped(last.stop_signal):
            first.query('CREATE DATABASE meanwhile')
            self.assertEqual([['2']], self.status(first, 'cluster_size'))
        found = last.query("SHOW DATABASES LIKE 'meanwhile'")
        self.assertEqual([['meanwhile']], found)

    def test_nothing_is_left_after_an_error(self):
        cluster = galera.Cluster()
        with contextlib.suppress(ZeroDivisionError), cluster:
            pids = [node.pid for node in cluster.nodes]
            raise ZeroDivisionError
        for node, pid in zip(cluster.nodes, pids, strict=True):
            self.assertFalse(node.folder.exists())
            self.assertRaises(ProcessLookupError, os.kill, pid, 0)

    def test_nothing_is_left_if_a_node_does_not_start(self):
        cluster = galera.Cluster()
        first, second = cluster.nodes
        second._command = lambda: ['sh', '-c', 'echo no such luck; exit 1']

        error = self.assertRaises(errors.Error, cluster.__enter__)

        self.assertIn('did not start: no such luck', str(error))
        self.assertFalse(first.is_running)
        for node in cluster.nodes:
            self.assertFalse(node.folder.exists())
