# SPDX-License-Identifier: Apache-2.0

"""A private PostgreSQL server."""

import pathlib
import secrets
import signal
import subprocess

from patchset import child
from patchset import errors
from patchset.services import server

# A test's data need not survive a power cut.
_RELAXED = {
    'fsync': 'off',
    'full_page_writes': 'off',
    'synchronous_commit': 'off',
}


class PostgreSQL(server.Server):
    """A PostgreSQL server with one user, who may do everything.

    :param folder: where to make the server's temporary folder
    :param durable: write to disk at each commit, as a production server
        does; off, commits cost less than they will in production
    """

    name = 'postgresql'
    users = ('postgres', 'nobody')
    # Fast, and unlike a kill it gives its shared memory back.
    stop_signal = signal.SIGQUIT

    def __init__(self, folder=None, durable=False, settings=None):
        super().__init__(folder)
        self._durable = durable
        self._settings = settings or {}
        self._password = secrets.token_hex(16)

    @property
    def admin_url(self):
        """SQLAlchemy URL of the database that each server has."""
        return self._url('postgres')

    def url(self, database):
        """SQLAlchemy URL of a database, which is made if it is missing."""
        names = self.query('SELECT datname FROM pg_database')
        if [database] not in names:
            self.query(f'CREATE DATABASE "{database}"')
        return self._url(database)

    def query(self, statement, database='postgres'):
        """Result of one SQL statement: a list of lists of strings.

        :raises patchset.errors.Error: the server's own message
        """
        done = self._ask(statement, database)
        if done.returncode:
            raise errors.Error(f'postgresql: {done.stderr.strip()}')
        return [line.split('\t') for line in done.stdout.splitlines()]

    def _url(self, database):
        return (
            f'postgresql+psycopg2://keystone:{self._password}'
            f'@127.0.0.1:{self.port}/{database}'
        )

    def _ask(self, statement, database='postgres'):
        return subprocess.run(
            [
                program('psql'), '--no-psqlrc', '--no-align',
                '--tuples-only', '--quiet', '--field-separator=\t',
                '--host=127.0.0.1', f'--port={self.port}',
                '--username=keystone', f'--dbname={database}',
                f'--command={statement}',
            ],
            env={'PGPASSWORD': self._password},
            capture_output=True,
            text=True,
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

    def _answers(self):
        return self._ask('SELECT 1').returncode == 0


def program(name):
    """Path of a program of the newest PostgreSQL that is installed."""
    # Debian keeps each major version in a folder of its own, off the PATH.
    folders = pathlib.Path('/usr/lib/postgresql').glob('*/bin')
    newest = sorted(
        folders, key=lambda path: int(path.parent.name), reverse=True
    )
    return child.find(name, *newest)
