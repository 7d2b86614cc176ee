# SPDX-License-Identifier: Apache-2.0

"""Tests of ``./ks serve`` as a user runs it."""

import os
import pathlib
import re
import signal
import socket
import subprocess
import time

import fixtures
import testtools

from patchset import child
from patchset import client
from patchset import environment
from patchset import pins
from patchset import ports
from patchset.services import server
from patchset.tests.functional import commands

PATIENCE = 120  # seconds; far more than a loaded machine needs


class ServeTestCase(testtools.TestCase):
    def setUp(self):
        super().setUp()
        self.folder = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        self.state = self.folder / 'state'
        self.port = server.free_port()

    def start(self, *arguments, **variables):
        """Start a server; return the process and what it printed."""
        process = self.launch(*arguments, **variables)
        return process, commands.output_until(
            self, process, r'^Press Ctrl-C to stop\.'
        )

    def launch(self, *arguments, **variables):
        clean = {
            name: value
            for name, value in os.environ.items()
            if not name.startswith('OS_')
        }
        return commands.start(
            self,
            (
                'serve', '--port', str(self.port), '--state', self.state,
                *arguments,
            ),
            {**clean, **variables},
            PATIENCE,
        )  # fmt: skip

    def refused(self, *arguments, **variables):
        """Its exit code and message when it does not even start."""
        process = self.launch(*arguments, **variables)
        text = process.communicate(timeout=PATIENCE)[0]
        errors = [
            line.removeprefix('ks: error: ')
            for line in text.splitlines()
            if line.startswith('ks: error: ')
        ]
        self.assertEqual(1, len(errors), text)
        return process.returncode, errors[0]

    def assertStopped(self):
        child.wait_until(
            lambda: ports.holder(self.port) is None,
            PATIENCE,
            lambda: AssertionError('something still listens'),
        )

    def shell(self, command):
        """Run a command as a user who follows what was printed."""
        return subprocess.run(
            ['sh', '-ec', command],
            env={'PATH': os.environ['PATH'], 'HOME': str(self.folder)},
            capture_output=True,
            text=True,
            timeout=PATIENCE,
        )

    def test_first_request_stop_and_second_run(self):
        process, text = self.start(OS_REGION_NAME='Elsewhere')
        self.assertIn(
            f'\nKeystone is running at http://127.0.0.1:{self.port}/v3\n', text
        )
        password = re.search(r'^export OS_PASSWORD=(\S+)$', text, re.M)[1]
        commands = re.search(
            r'^To send a request.*:\n((?:  .*\n)+)', text, re.M
        )[1]
        done = self.shell(commands)
        self.assertEqual(0, done.returncode, done.stderr)
        self.assertIn('| project_id |', done.stdout)

        process.send_signal(signal.SIGTERM)
        rest = process.communicate(timeout=PATIENCE)[0]
        self.assertEqual(0, process.returncode, rest)
        self.assertIn('stopped', rest.splitlines()[-1])
        self.assertStopped()
        self.assertFalse((self.state / 'pid').exists())

        process, text = self.start()
        self.assertNotIn(password, text)
        self.assertIn(f'OS_PASSWORD is in {self.state}/openrc', text)
        self.assertIn(password, (self.state / 'openrc').read_text())
        programs = environment.Environment(pins.newest(), 'run').bin
        done = self.shell(
            f'. {self.state}/openrc; '
            f'{programs}/openstack project list -f value'
        )
        self.assertRegex(done.stdout, r'^[0-9a-f]{32} admin\n$')

        process.send_signal(signal.SIGINT)
        rest = process.communicate(timeout=PATIENCE)[0]
        self.assertEqual(0, process.returncode, rest)
        self.assertStopped()

    def test_stock_with_a_given_password_dies_with_its_launcher(self):
        secret = self.folder / 'secret'
        secret.write_text('sesame\n')
        process, text = self.start('--stock', '--admin-password-file', secret)
        self.assertNotIn('sesame', text)
        answer = client.Client(self.port).authenticate(
            client.password('sesame'), client.ADMIN_PROJECT
        )
        self.assertEqual(201, answer.status)
        worker = int((self.state / 'pid').read_text())
        tree = pathlib.Path(f'/proc/{worker}/environ').read_bytes()
        self.assertIn(b'/upstream/keystone-', tree)

        process.kill()
        self.assertStopped()
        child.wait_until(
            lambda: not pathlib.Path(f'/proc/{worker}').exists(),
            PATIENCE,
            lambda: AssertionError(f'process {worker} still runs'),
        )

    def test_taken_port(self):
        with socket.create_server(('127.0.0.1', self.port)):
            code, message = self.refused()
        self.assertEqual(1, code)
        self.assertEqual(
            f'port {self.port} of 127.0.0.1 is in use by {self.name()} '
            f'(process {os.getpid()}); stop it, or choose another port',
            message,
        )
        self.assertFalse(self.state.exists())

    @staticmethod
    def name():
        return pathlib.Path('/proc/self/comm').read_text().strip()

    def test_arguments_that_make_no_sense(self):
        empty = self.folder / 'empty'
        empty.write_text('\n')
        for words, expected in (
            (['--database', 'oracle://u:p@h/k'], "unknown dialect 'oracle'"),
            (['--cache', 'redis://h:1'], 'memcached://HOST:PORT'),
            (['--admin-password-file', empty], 'its first line is empty'),
            (['--admin-password-file', '/none'], 'No such file'),
            (['--release', '1999.1'], 'no release 1999.1'),
        ):
            code, message = self.refused(*words)
            self.assertEqual((2, True), (code, expected in message), message)
        self.assertFalse(self.state.exists())

    def test_a_folder_that_cannot_be_written(self):
        (self.folder / 'file').write_text('')
        self.state = self.folder / 'file' / 'state'
        code, message = self.refused()
        self.assertEqual(1, code)
        self.assertIn(f'cannot use the folder {self.state}', message)

    def test_ctrl_c_while_it_installs(self):
        temporary = self.folder / 'temporary'
        temporary.mkdir()
        process = self.launch(
            KS_BUILD_DIR=str(self.folder / 'build'), TMPDIR=str(temporary)
        )
        commands.output_until(self, process, 'installing ')
        packages = self.folder / 'build' / 'venv'
        child.wait_until(
            lambda: list(packages.glob('*/bin/pip')),
            PATIENCE,
            'pip was not installed',
        )
        time.sleep(0.5)  # it has begun
        process.send_signal(signal.SIGINT)
        output = process.communicate(timeout=PATIENCE)[0]
        self.assertEqual('ks: error: interrupted\n', output)
        self.assertEqual(130, process.returncode)
        self.assertEqual([], list(temporary.iterdir()))

    def test_sigterm_while_it_prepares(self):
        process = self.launch()
        for line in process.stdout:
            if 'keystone-manage' in line:
                break
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=PATIENCE)
        self.assertEqual(128 + signal.SIGTERM, process.returncode)
        # What was begun is finished by the next run.
        process, _ = self.start()
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=PATIENCE)
        self.assertEqual(0, process.returncode)
