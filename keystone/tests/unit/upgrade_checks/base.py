# SPDX-License-Identifier: Apache-2.0

"""``keystone-status upgrade check`` in a process, with a configuration."""

import json
import os
import subprocess
import sys

from cryptography import fernet
import fixtures
import sqlalchemy

from keystone.assignment.role_backends import sql_model
from keystone.tests import unit

STATUS = 'import sys; from keystone.cmd import status; sys.exit(status.main())'


class StatusTestCase(unit.BaseTestCase):
    """Writes configuration files, and runs the command with them."""

    def setUp(self):
        super().setUp()
        self.folder = self.useFixture(fixtures.TempDir()).path
        self.keys = self.useFixture(fixtures.TempDir()).path
        for name in ('0', '1'):
            with open(os.path.join(self.keys, name), 'wb') as file:
                file.write(fernet.Fernet.generate_key())
        self.database = f'sqlite:///{self.folder}/keystone.db'
        engine = sqlalchemy.create_engine(self.database)
        self.addCleanup(engine.dispose)
        for model in (sql_model.RoleTable, sql_model.RoleOption):
            model.__table__.create(engine)

    def configure(self, options):
        """Write a configuration file.

        :param options: {section: {option: value}}
        :returns: its path
        """
        path = os.path.join(self.folder, 'keystone.conf')
        keys = {'key_repository': self.keys}
        options = {
            'database': {'connection': self.database},
            'fernet_tokens': keys,
            'fernet_receipts': keys,
            **options,
        }
        with open(path, 'w') as file:
            for section, pairs in options.items():
                file.write(f'[{section}]\n')
                for name, value in pairs.items():
                    file.write(f'{name} = {value}\n')
        return path

    def start(self, options, *words):
        """Run the command.

        :returns: its exit code, and what it printed
        """
        process = subprocess.run(
            [
                sys.executable, '-Wignore', '-c', STATUS, '--config-file',
                self.configure(options), 'upgrade', 'check', *words,
            ],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )  # fmt: skip
        return process.returncode, process.stdout

    def run_checks(self, options):
        """Run the command.

        :returns: its exit code, and {check: (code, details)}
        """
        code, out = self.start(options, '--json')
        checks = json.loads(out.splitlines()[-1])['checks']
        return code, {
            one['check']: (one['result'], one['details']) for one in checks
        }
