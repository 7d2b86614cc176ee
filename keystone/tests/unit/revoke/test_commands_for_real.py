# SPDX-License-Identifier: Apache-2.0

import datetime
import json
import os
import signal
import subprocess
import sys

import fixtures
import sqlalchemy

from keystone.revoke.backends import sql as revoke_sql
from keystone.tests import unit

MANAGE = 'from keystone.cmd import manage; manage.main()'
YEAR = datetime.timedelta(days=365)


class CommandsForRealTests(unit.BaseTestCase):
    """``keystone-manage`` in a process of its own, with a configuration."""

    def setUp(self):
        super().setUp()
        folder = self.useFixture(fixtures.TempDir()).path
        url = f'sqlite:///{folder}/keystone.db'
        self.file = os.path.join(folder, 'keystone.conf')
        self.configure(url)
        self.engine = sqlalchemy.create_engine(url)
        self.addCleanup(self.engine.dispose)
        self.table = revoke_sql.RevocationEvent.__table__
        self.table.create(self.engine)
        now = datetime.datetime.now(datetime.timezone.utc)
        now = now.replace(tzinfo=None)
        with self.engine.begin() as connection:
            connection.execute(
                self.table.insert(),
                [
                    {'user_id': 'a', 'issued_before': at, 'revoked_at': at}
                    for at in [now] * 5 + [now - YEAR] * 30
                ],
            )

    def configure(self, url):
        with open(self.file, 'w') as config:
            config.write(f'[database]\nconnection = {url}\n')

    def start(self, *words):
        process = subprocess.Popen(
            [
                sys.executable, '-Wignore', '-c', MANAGE,
                '--config-file', self.file, *words,
            ],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )  # fmt: skip
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.stderr.close)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return process

    def run_command(self, *words):
        process = self.start(*words)
        out, err = process.communicate()
        return process.returncode, out, err

    def left(self):
        count = sqlalchemy.select(sqlalchemy.func.count(self.table.c.id))
        with self.engine.connect() as connection:
            return connection.scalar(count)

    def test_status_then_prune(self):
        code, out, _err = self.run_command(
            'revocation_status', '--format', 'json'
        )
        self.assertEqual(0, code)
        found = json.loads(out)
        self.assertEqual((5, 30), (found['live'], found['expired']))

        code, out, _err = self.run_command(
            'revocation_prune', '--until-complete', '--batch-size', '20'
        )
        self.assertEqual(1, code)
        self.assertIn('Deleted 30 events', out)
        self.assertEqual(5, self.left())

    def test_wrong_arguments(self):
        code, out, err = self.run_command(
            'revocation_prune', '--batch-size', '-5'
        )

        self.assertEqual((2, ''), (code, out))
        self.assertIn('-5: must be 1 or greater', err.splitlines()[-1])
        self.assertEqual(35, self.left())

    def test_no_database(self):
        self.configure('sqlite:////nowhere/keystone.db')

        code, out, _err = self.run_command('revocation_status', '--warning=5')
        self.assertEqual(3, code)
        (line,) = out.splitlines()
        self.assertIn('REVOCATION UNKNOWN', line)

    def test_any_other_error(self):
        with open(self.file, 'a') as config:
            config.write('[revoke]\ndriver = nonsense\n')

        code, _out, err = self.run_command('revocation_prune')
        self.assertEqual(255, code)
        self.assertIn("Unable to find 'nonsense'", err)
        self.assertIn('ImportError, see the log', err.splitlines()[-1])

        code, out, _err = self.run_command('revocation_status', '--warning=5')
        self.assertEqual(3, code)
        (line,) = out.splitlines()
        self.assertIn('REVOCATION UNKNOWN', line)

    def test_interrupted_during_a_pause(self):
        process = self.start(
            'revocation_prune', '--until-complete', '--verbose',
            '--batch-size=10', '--sleep=100000',
        )  # fmt: skip
        self.assertIn('Deleted 10', process.stdout.readline())

        process.send_signal(signal.SIGINT)

        out, _err = process.communicate()
        self.assertEqual(1, process.returncode)
        self.assertIn('Stopped: interrupted.', out)
        self.assertEqual(25, self.left())
