# SPDX-License-Identifier: Apache-2.0

"""Children end when told to, with all of their group, and with us.

Their logs tell why.
"""

import os
import pathlib
import signal
import subprocess
import sys

import fixtures
import testtools

from patchset import child
from patchset import errors
from patchset.tests.unit import processes


class ChildTestCase(testtools.TestCase):
    def setUp(self):
        super().setUp()
        self.folder = pathlib.Path(self.useFixture(fixtures.TempDir()).path)

    def pid_in(self, name):
        path = self.folder / name
        self.assertTrue(
            processes.until(lambda: path.exists() and path.read_text().strip())
        )
        return int(path.read_text())

    def start(self, script):
        process = child.start(['sh', '-c', script], cwd=self.folder)
        self.addCleanup(child.stop, process)
        return process

    def test_stop_ends_grandchildren(self):
        process = self.start('sleep 300 & echo $! > pid; wait')
        grandchild = self.pid_in('pid')
        child.stop(process)
        self.assertEqual(-signal.SIGTERM, process.returncode)
        self.assertTrue(processes.ends(grandchild))

    def test_stop_kills_what_does_not_listen(self):
        process = self.start(
            "trap '' TERM; echo $$ > pid; while :; do :; done"
        )
        self.pid_in('pid')
        child.stop(process, patience=0.2)
        self.assertEqual(-signal.SIGKILL, process.returncode)

    def test_stop_sweeps_up_after_a_child_that_ended(self):
        process = self.start('sleep 300 & echo $! > pid')
        process.wait()
        child.stop(process)
        self.assertTrue(processes.ends(self.pid_in('pid')))

    def test_child_ends_with_a_killed_parent(self):
        script = (
            'from patchset import child\n'
            'import time\n'
            "print(child.start(['sleep', '300']).pid, flush=True)\n"
            'time.sleep(300)\n'
        )
        with subprocess.Popen(
            [sys.executable, '-c', script], stdout=subprocess.PIPE
        ) as parent:
            pid = int(parent.stdout.readline())
            # By then the kernel has been told.
            comm = pathlib.Path(f'/proc/{pid}/comm')
            self.assertTrue(
                processes.until(lambda: comm.read_text() == 'sleep\n')
            )
            parent.kill()
        self.assertTrue(processes.ends(pid))

    def test_root_becomes_the_user(self):
        if os.geteuid() != 0:
            # Only root can.
            process = child.start(['id'], user='nobody', stderr=-3)
            self.assertNotEqual(0, process.wait())
            return
        process = child.start(
            ['id', '-un'], user='nobody', stdout=subprocess.PIPE
        )
        self.assertEqual(b'nobody\n', process.communicate()[0])

    def test_find_names_what_is_not_installed(self):
        error = self.assertRaises(errors.Error, child.find, 'no-such-server')
        self.assertEqual('no-such-server is not installed', str(error))

    def test_find_prefers_the_given_folders(self):
        mine = self.folder / 'sh'
        mine.write_text('#!/bin/sh\n')
        mine.chmod(0o755)
        self.assertEqual(mine, child.find('sh', self.folder))
        self.assertNotEqual(mine, child.find('sh'))


class LogTestCase(testtools.TestCase):
    def setUp(self):
        super().setUp()
        folder = self.useFixture(fixtures.TempDir()).path
        self.path = pathlib.Path(folder) / 'log'

    def last_words(self, text, start=0):
        self.path.write_text(text)
        return child.last_words(self.path, start)

    def test_end_of_a_traceback(self):
        self.assertEqual(
            'a.b.DriverError: no such driver',
            self.last_words(
                'Traceback (most recent call last):\n  File "x", line 1\n'
                '2026-11-20 ERROR keystone a.b.DriverError: no such driver\n'
                '2026-11-20 ERROR keystone \n\n*** no app loaded ***\n'
            ),
        )

    def test_last_line_otherwise(self):
        self.assertEqual('goodbye', self.last_words('hello\ngoodbye\n\n'))

    def test_nothing(self):
        self.assertEqual('it said nothing', self.last_words('\n'))

    def test_only_what_is_new(self):
        old = 'OldError: before\n'
        self.assertEqual('now', self.last_words(f'{old}now\n', len(old)))
