# SPDX-License-Identifier: Apache-2.0

"""A private MariaDB server."""

import signal

from patchset import child
from patchset.services import server

# Some machines and containers limit the asynchronous I/O of the kernel.
_WITHOUT_AIO = '--innodb-use-native-aio=0'
# The data of a test does not have to survive a power failure.
_RELAXED = (
    _WITHOUT_AIO,
    '--innodb-flush-method=nosync',
    '--innodb-flush-log-at-trx-commit=0',
    '--innodb-doublewrite=0',
)


class MariaDB(server.Database):
    """A MariaDB server."""

    name = 'mariadb'
    users = ('mysql', 'nobody')
    # An orderly end is not required, because the files are removed.
    stop_signal = signal.SIGKILL

    @property
    def admin_url(self):
        """SQLAlchemy URL without a database."""
        return self._url('', self.port)

    def url(self, database, port=None):
        """SQLAlchemy URL of a database, see the base class."""
        self.query(f'CREATE DATABASE IF NOT EXISTS `{database}`')
        return self._url(database, port or self.port)

    def _url(self, database, port):
        address = f'keystone:{self._password}@127.0.0.1:{port}'
        return f'mysql+pymysql://{address}/{database}'

    def dump(self, database, path):
        """Write a database into a file, as SQL.

        :raises patchset.errors.Error: the program's own message
        """
        words = [*self._account('mariadb-dump'), database]
        with open(path, 'w') as file:
            self._output(self._as_user(words, stdout=file))

    def load(self, database, path):
        """Fill a database from a file written by :meth:`dump`.

        :raises patchset.errors.Error: the server's own message
        """
        words = [*self._client(), database]
        self._output(self._as_user(words, stdin=path.read_text()))

    def _execute(self, statement, database=None):
        words = [f'--database={database}'] if database else []
        words = [*self._client(), *words, f'--execute={statement}']
        return self._as_user(words)

    def _as_user(self, words, **options):
        return child.finish(
            words, env={'MYSQL_PWD': self._password}, **options
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
        # In a common folder, a starting server deletes the files of others.
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
