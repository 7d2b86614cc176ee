# SPDX-License-Identifier: Apache-2.0

"""``./ks cluster`` as a user runs it."""

import http.client
import os
import pathlib
import signal
import subprocess

import fixtures
import testtools

from patchset import client
from patchset import paths
from patchset.services import server
from patchset.tests.functional import commands

PATIENCE = 180  # seconds; far more than a loaded machine needs


class ClusterTestCase(testtools.TestCase):
    def setUp(self):
        super().setUp()
        folder = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        folder.chmod(0o711)
        # What was built already is used, but for the note of what runs.
        for one in paths.BUILD.iterdir():
            if one.name != 'cluster':
                (folder / one.name).symlink_to(one)
        # Not below it: HAProxy limits the length of a socket's path.
        self.temporary = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        self.temporary.chmod(0o1777)
        self.variables = {
            **os.environ,
            'KS_BUILD_DIR': str(folder),
            'TMPDIR': str(self.temporary),
        }
        self.port = server.free_port()

    def ks(self, *words):
        """What a command printed, and its exit code."""
        done = subprocess.run(
            [paths.ROOT / 'ks', 'cluster', *words],
            env=self.variables,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=PATIENCE,
        )
        return done.returncode, done.stdout

    def up(self, *words):
        """Start a cluster; the process and what it printed."""
        process = commands.start(
            self,
            ('cluster', 'up', '--port', str(self.port), *words),
            self.variables,
            PATIENCE,
        )
        return process, commands.output_until(
            self, process, r'\./ks cluster down'
        )

    def status(self):
        return client.Client(self.port).ask('GET', '').status

    def test_up_status_drain_and_down(self):
        process, text = self.up('--nodes', '2', '--mixed')
        for words in ('node1   UP', 'node2   UP', 'patched', 'stock'):
            self.assertIn(words, text)
        self.assertEqual(http.client.OK, self.status())
        self.assertEqual((0, ''), self.ks('drain', 'node1'))
        self.assertIn('node1   DRAIN', self.ks('status')[1])
        self.assertEqual(http.client.OK, self.status())
        code, text = self.ks('down')
        self.assertEqual(0, code, text)
        self.assertEqual(0, process.wait(PATIENCE))
        self.assertEqual(0, self.status())
        self.assertEqual([], os.listdir(self.temporary))
        self.assertIn('no cluster is running', self.ks('status')[1])

    def test_interrupted_while_it_starts(self):
        process = subprocess.Popen(
            [paths.ROOT / 'ks', 'cluster', 'up', '--port', str(self.port)],
            env=self.variables,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )
        self.addCleanup(process.stderr.close)
        for line in process.stderr:
            if 'starting mariadb' in line:
                process.send_signal(signal.SIGTERM)
                break
        process.stderr.read()
        self.assertEqual(128 + signal.SIGTERM, process.wait(PATIENCE))
        self.assertEqual([], os.listdir(self.temporary))
