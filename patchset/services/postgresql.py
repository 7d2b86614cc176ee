# SPDX-License-Identifier: Apache-2.0

"""A private PostgreSQL server."""

import pathlib
import signal

from patchset import child
from patchset.services import server

# The data of a test does not have to survive a power failure.
_RELAXED = {
    'fsync': 'off',
    'full_page_writes': 'off',
    'synchronous_commit': 'off',
}


class PostgreSQL(server.Database):
    """A PostgreSQL server.

    :param settings: {name: value} on top of the server's own
    """

    name = 'postgresql'
    users = ('postgres', 'nobody')
    # Fast, but unlike a kill it releases shared memory.
    stop_signal = signal.SIGQUIT

    def __init__(self, folder=None, durable=False, settings=None):
        super().__init__(folder, durable)
        self._settings = settings or {}

    @property
    def admin_url(self):
        """SQLAlchemy URL of the default database."""
        return self._url('postgres', self.port)

    def url(self, database, port=None):
        """SQLAlchemy URL of a database, see the base class."""
        names = self.query('SELECT datname FROM pg_database')
        if [database] not in names:
            self.query(f'CREATE DATABASE "{database}"')
        return self._url(database, port or self.port)

    def _url(self, database, port):
        address = f'keystone:{self._password}@127.0.0.1:{port}'
        return f'postgresql+psycopg2://{address}/{database}'

    def _execute(self, statement, database=None):
        return child.finish(
            [
                program('psql'), '--no-psqlrc', '--no-align',
                '--tuples-only', '--quiet', '--field-separator=\t',
                '--host=127.0.0.1', f'--port={self.port}',
                '--username=keystone', f'--dbname={database or "postgres"}',
                f'--command={statement}',
            ],
            env={'PGPASSWORD': self._password},
        )  # fmt: skip

    def _prepare(self):
        password = self._write('password', self._password)
        self._run(
            [
                program('initdb'), f'--pgdata={self.folder}/data',
                '--username=keystone', f'--pwfile={password}',
                '--auth=scram-sha-256', '--encoding=UTF8',
                '--locale=C.UTF-8', '--no-sync',
            ]
        )  # fmt: skip

    def _command(self):
        settings = {
            'port': self.port,
            'listen_addresses': '127.0.0.1',
            'unix_socket_directories': '',
            'max_connections': 200,
            **({} if self._durable else _RELAXED),
            **self._settings,
        }
        words = [program('postgres'), '-D', self.folder / 'data']
        for name, value in settings.items():
            words += ['-c', f'{name}={value}']
        return words


def program(name):
    """Path of a program of the newest installed PostgreSQL."""
    # Debian has a folder for each major version, which is not in PATH.
    folders = pathlib.Path('/usr/lib/postgresql').glob('*/bin')
    newest = sorted(
        folders, key=lambda path: int(path.parent.name), reverse=True
    )
    return child.find(name, *newest)
