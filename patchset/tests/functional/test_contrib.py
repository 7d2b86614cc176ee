# SPDX-License-Identifier: Apache-2.0

"""What contrib/ starts, started: uWSGI, and the commands of the timers."""

import configparser
import os
import pathlib
import shutil
import signal
import socket
import subprocess

import fixtures
import testtools

from patchset import child
from patchset import client
from patchset import paths
from patchset import wsgi
from patchset.services import server
from patchset.test_parts import cloud
from patchset.tests.functional import test_deployment

CONTRIB = paths.ROOT / 'contrib'
METRICS = '/var/lib/prometheus/node-exporter'
MANAGE = """\
#!/bin/sh
exec {python} -c 'from keystone.cmd import manage; manage.main()' \
--config-file {state}/keystone.conf --config-dir {state}/keystone.conf.d "$@"
"""


class StateTestCase(testtools.TestCase):
    """Has a prepared Keystone, and runs lines of files in contrib/."""

    def setUp(self):
        super().setUp()
        self.folder = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        prepared = test_deployment.prepared()
        self.state = self.folder / 'state'
        shutil.copytree(prepared.state.path, self.state)
        self.port = server.free_port()
        self.keystone = cloud.keystone(self.state, port=self.port)
        self.admin = client.password(prepared.password)
        self.variables = {
            **wsgi.variables(self.keystone.environment, self.keystone.tree),
            'OS_KEYSTONE_CONFIG_FILES': str(self.state / 'keystone.conf'),
        }

    def run_line(self, line, variables):
        """Run a command line with the programs and folders of this test.

        :returns: what it printed, standard error included
        """
        programs = self.folder / 'bin'
        programs.mkdir(exist_ok=True)
        manage = programs / 'keystone-manage'
        manage.write_text(
            MANAGE.format(
                python=self.keystone.environment.python, state=self.state
            )
        )
        manage.chmod(0o755)
        path = f'{programs}{os.pathsep}{self.variables["PATH"]}'
        line = line.replace('/opt/keystone/bin', str(programs))
        done = subprocess.run(
            ['sh', '-c', line.replace(METRICS, str(self.folder))],
            env={**self.variables, **variables, 'PATH': path},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        self.assertEqual(0, done.returncode, done.stdout)
        return done.stdout


class ContribTestCase(StateTestCase):
    def test_uwsgi_serves_and_tells_systemd(self):
        self.listen()
        file = self.folder / 'keystone-uwsgi.ini'
        text = (CONTRIB / 'uwsgi' / 'keystone.ini').read_text()
        file.write_text(text.replace(':5000', f':{self.port}'))
        with open(self.folder / 'log', 'w') as log:
            uwsgi = child.start(
                [self.keystone.environment.bin / 'uwsgi', '--ini', file],
                env=self.variables, cwd=self.state, stdout=log, stderr=log,
            )  # fmt: skip
        self.addCleanup(child.stop, uwsgi)
        self.assertIn('READY=1', self.heard(), (self.folder / 'log').open())
        life = test_deployment.life(client.Client(self.port), self.admin)
        self.assertEqual(test_deployment.LIFE, life)
        uwsgi.send_signal(signal.SIGTERM)
        self.assertEqual(0, uwsgi.wait(30))

    def listen(self):
        path = self.folder / 'notify'
        self.notify = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.addCleanup(self.notify.close)
        self.notify.bind(str(path))
        self.notify.settimeout(60)
        self.variables['NOTIFY_SOCKET'] = str(path)

    def heard(self):
        """What systemd is told until the service is ready, as text."""
        told = ''
        while 'READY=1' not in told:
            told += self.notify.recv(4096).decode()
        return told

    def assert_metrics(self):
        path = self.folder / 'keystone_revocation.prom'
        self.assertIn('keystone_revocation_events{', path.read_text())
        path.unlink()

    def test_services_of_the_timers(self):
        printed = ''
        for name in ('prune', 'metrics'):
            unit = configparser.RawConfigParser()
            unit.read(
                CONTRIB / 'systemd' / f'keystone-revocation-{name}.service'
            )
            variables = dict([unit['Service']['Environment'].split('=')])
            printed += self.run_line(unit['Service']['ExecStart'], variables)
        self.assertRegex(printed, r'\ADeleted 0 events in .*\n\Z')
        self.assert_metrics()

    def test_cron_is_silent(self):
        variables, lines = {}, []
        for line in (CONTRIB / 'cron' / 'keystone-revocation').open():
            name, assigned, value = line.strip().partition('=')
            if assigned and name.isupper():
                variables[name] = value
            elif line.strip() and line[0] != '#':
                lines.append(line.split(maxsplit=6)[6])
        self.assertEqual(2, len(lines))
        for line in lines:
            self.assertEqual('', self.run_line(line, variables))
        self.assert_metrics()
        # And it is what the file sets that makes it so.
        self.assertIn('Warning', self.run_line(lines[1], {}))
