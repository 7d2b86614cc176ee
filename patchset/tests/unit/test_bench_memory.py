# SPDX-License-Identifier: Apache-2.0

"""Tests of the measurement of the workers' memory."""

import pathlib
import subprocess
import sys
import types

import testtools

from bench import memory
from patchset import child

_MASTER = """
import os, sys
for _ in range(2):
    pid = os.fork()
    if not pid:
        taken = b'x' * (40 << 20)
        os.write(1, b'ready\\n')  # at once: both write there
        sys.stdin.read()
        os._exit(0)
sys.stdin.read()
"""


class WorkersTestCase(testtools.TestCase):
    def test_the_children_alone(self):
        with child.start(
            [sys.executable, '-c', _MASTER],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        ) as process:
            self.addCleanup(child.stop, process)
            for _ in range(2):
                self.assertEqual(b'ready\n', process.stdout.readline())
            keystone = types.SimpleNamespace(pid=process.pid)
            found = memory.of_workers(types.SimpleNamespace(keystone=keystone))
            status = pathlib.Path(f'/proc/{process.pid}/smaps_rollup')
            own = int(status.read_text().partition('Rss:')[2].split()[0])
            process.stdin.close()
        for name in ('pss', 'rss'):
            self.assertEqual(2, len(found[name]))
            for size in found[name]:
                self.assertGreater(size, 40 << 20)
                self.assertLess(size, 80 << 20)
        self.assertLess(1024 * own, 40 << 20)


class PointsTestCase(testtools.TestCase):
    def setUp(self):
        super().setUp()
        mib = 2**20

        def processes(*sizes):
            return {
                'pss': [size * mib for size in sizes],
                'rss': [(size + 2) * mib for size in sizes],
            }

        self.points = memory.points(
            {
                ('audit', 0): {
                    'stock': processes(100, 102),
                    'patched': processes(110, 112),
                },
                ('audit', 1024): {
                    'stock': processes(100, 102),
                    'patched': processes(111, 113),
                },
            }
        )

    def test_what_one_event_adds(self):
        none, some = self.points
        self.assertEqual(
            (101, 103), (none['stock']['pss'], none['stock']['rss'])
        )
        self.assertIsNone(none['patched']['each'])
        self.assertEqual(
            (0, 1024), (some['stock']['each'], some['patched']['each'])
        )

    def test_text(self):
        lines = memory.text(self.points).splitlines()
        self.assertRegex(
            lines[-1], r'^audit +1024 +patched +112.0 +114.0 +1024$'
        )
        self.assertRegex(lines[3], r'^audit +0 +patched +111.0 +113.0 +-$')
