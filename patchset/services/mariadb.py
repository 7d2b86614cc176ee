# SPDX-License-Identifier: Apache-2.0

"""A private MariaDB server."""

import secrets
import signal
import subprocess

from patchset import child
from patchset import errors
from patchset.services import server

# Some machines and containers let a program have little of the kernel's own.
_WITHOUT_AIO = '--innodb-use-native-aio=0'
# A test's data need not survive a power cut.
_RELAXED = (
    _WITHOUT_AIO,
    '--innodb-flush-method=nosync',
    '--innodb-flush-log-at-trx-commit=0',
    '--innodb-doublewrite=0',
)


class MariaDB(server.Server):
    """A MariaDB server with one user, who may do everything.

    :param folder: where to make the server's temporary folder
    :param durable: write to disk at each commit, as a production server
        does; off, commits cost less than they will in production
    """

    name = 'mariadb'
    users = ('mysql', 'nobody')
    # Nothing of it is kept, so there is nothing to shut down in order.
    stop_signal = signal.SIGKILL

    def __init__(self, folder=None, durable=False):
        super().__init__(folder)
        self._durable = durable
        self._password = secrets.token_hex(16)

    @property
    def admin_url(self):
        """SQLAlchemy URL without a database."""
        return (
            f'mysql+pymysql://keystone:{self._password}@127.0.0.1:{self.port}/'
        )

    def url(self, database):
        """SQLAlchemy URL of a database, which is made if it is missing."""
        self.query(f'CREATE DATABASE IF NOT EXISTS `{database}`')
        return f'{self.admin_url}{database}'

    def query(self, statement, database=None):
        """Result of one SQL statement: a list of lists of strings.

        :raises patchset.errors.Error: the server's own message
        """
        done = self._checked(self._ask(statement, database))
        return [line.split('\t') for line in done.stdout.splitlines()]

    def dump(self, database, path):
        """Write a database into a file, as SQL.

        :raises patchset.errors.Error: the program's own message
        """
        words = [*self._account('mariadb-dump'), database]
        with open(path, 'w') as file:
            self._checked(self._talk(words, stdout=file))

    def load(self, database, path):
        """Fill a database from what :meth:`dump` wrote.

        :raises patchset.errors.Error: the server's own message
        """
        with open(path) as file:
            self._checked(self._talk([*self._client(), database], stdin=file))

    def _ask(self, statement, database=None):
        words = [f'--database={database}'] if database else []
        return self._talk([*self._client(), *words, f'--execute={statement}'])

    @staticmethod
    def _checked(done):
        if done.returncode:
            raise errors.Error(f'mariadb: {done.stderr.strip()}')
        return done

    def _talk(self, words, **files):
        return subprocess.run(
            words,
            env={'MYSQL_PWD': self._password},
            stderr=subprocess.PIPE,
            text=True,
            **{'stdout': subprocess.PIPE, **files},
        )

    def _client(self):
        return [*self._account('mariadb'), '--batch', '--skip-column-names']

    def _account(self, program):
        return [
            child.find(program), '--no-defaults', '--protocol=tcp',
            '--host=127.0.0.1', f'--port={self.port}', '--user=keystone',
        ]  # fmt: skip

    def _prepare(self):
        self._make_data()
        self._write(
            'users.sql',
            "CREATE USER IF NOT EXISTS keystone@'127.0.0.1' "
            f"IDENTIFIED BY '{self._password}';\n"
            "GRANT ALL ON *.* TO keystone@'127.0.0.1' WITH GRANT OPTION;\n",
        )

    @property
    def _temporary(self):
        # A server that starts deletes what others have in a common folder.
        return f'--tmpdir={self.folder}'

    def _make_data(self):
        self._run(
            [
                child.find('mariadb-install-db'), '--no-defaults',
                f'--datadir={self.folder}/data', '--skip-test-db',
                '--skip-name-resolve', _WITHOUT_AIO, self._temporary,
                '--auth-root-authentication-method=socket',
            ]
        )  # fmt: skip

    def _command(self):
        return [
            child.find('mariadbd'), '--no-defaults',
            f'--datadir={self.folder}/data',
            f'--socket={self.folder}/socket',
            f'--pid-file={self.folder}/pid',
            f'--init-file={self.folder}/users.sql', self._temporary,
            '--bind-address=127.0.0.1', f'--port={self.port}',
            '--skip-name-resolve', '--character-set-server=utf8mb4',
            '--max-connections=500',
            *(() if self._durable else _RELAXED),
        ]  # fmt: skip

    def _answers(self):
        return self._ask('SELECT 1').returncode == 0
