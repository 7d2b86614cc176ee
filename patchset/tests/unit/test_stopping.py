# SPDX-License-Identifier: Apache-2.0

"""A signal ends a command, but not in the middle of certain steps."""

import signal
import subprocess
import sys

import testtools

from patchset import paths

_SCRIPT = """
import os, signal
from patchset import stopping

# A program that runs in the background may ignore it.
signal.signal(signal.{name}, signal.SIG_DFL)
stopping.in_order()
try:
    with stopping.deferred():
        with stopping.deferred():
            os.kill(os.getpid(), signal.{name})
        print('not interrupted', flush=True)
    print('interrupted too late')
finally:
    print('undone', flush=True)
"""


class DeferredTestCase(testtools.TestCase):
    def run_script(self, name):
        return subprocess.run(
            [sys.executable, '-c', _SCRIPT.format(name=name)],
            cwd=paths.ROOT,
            capture_output=True,
            text=True,
            timeout=60,
        )

    def test_ended(self):
        done = self.run_script('SIGTERM')
        self.assertEqual(128 + signal.SIGTERM, done.returncode, done.stderr)
        self.assertEqual('not interrupted\nundone\n', done.stdout)

    def test_interrupted(self):
        done = self.run_script('SIGINT')
        self.assertIn('KeyboardInterrupt', done.stderr)
        self.assertEqual('not interrupted\nundone\n', done.stdout)
