# SPDX-License-Identifier: Apache-2.0

"""One running Keystone: a tree, its files, its database and its cache."""

import hashlib
import json
import os
import pathlib
import secrets
import subprocess
import time

from patchset import cache_url
from patchset import child
from patchset import database_url
from patchset import errors
from patchset import keystone_conf
from patchset import logs
from patchset import openrc
from patchset import ports
from patchset import process
from patchset import progress
from patchset import state as states
from patchset import wsgi

PATIENCE = 120  # seconds that the server has to load Keystone
CONNECT = 10  # seconds that a database has to answer
_READY = 'ready'  # file with a line for each process that is
SCRIPTS = pathlib.Path(__file__).parent / 'inside'
MIGRATIONS = 'keystone/common/sql/migrations/versions'


class Deployment:
    """A Keystone that listens on 127.0.0.1.

    It keeps all its files in its state folder and reads none outside it.
    :meth:`start` and :meth:`launch` have to be called by a thread that lives
    as long as the server: the kernel ends the server with that thread.

    :param tree: path of the source tree to run
    :param environment: a :class:`patchset.environment.Environment`, made
    :param state: path of the state folder
    :param port: TCP port
    :param database: SQLAlchemy URL; None is an SQLite file in the state
        folder
    :param cache: ``memcached://HOST:PORT``; None is a cache inside the
        process, and so for one process only
    :param password: the admin's new password; None keeps the one that the
        state folder has, or makes one
    :param processes: number of server processes
    :param threads: number of threads of each
    :param options: {section: {option: value}} of keystone.conf, on top of
        the defaults
    :raises patchset.errors.UsageError: the arguments do not fit together
    """

    def __init__(
        self,
        tree,
        environment,
        state,
        *,
        port,
        database=None,
        cache=None,
        password=None,
        processes=1,
        threads=4,
        options=None,
    ):
        if processes > 1 and not cache and 'cache' not in (options or {}):
            raise errors.UsageError(
                f'{processes} processes require a shared cache'
            )
        self.tree = tree
        self.environment = environment
        self.state = states.State(pathlib.Path(state))
        self.port = port
        self.processes = processes
        self.threads = threads
        self.cache = cache
        self.database = (
            database_url.normalise(database)
            if database
            else database_url.sqlite(self.state.path / 'keystone.db')
        )
        self.options = keystone_conf.merge(
            keystone_conf.defaults(self.state.path, self.database, cache),
            options,
        )
        self.password = None
        self.password_is_new = False  # made by the last prepare()
        self._wanted_password = password
        self._server = None
        self._log_start = 0

    def __enter__(self):
        try:
            self.prepare()
            self.start()
        except BaseException:
            self.stop()
            raise
        return self

    def __exit__(self, *_):
        self.stop()

    @property
    def url(self):
        """Address of the API, version included."""
        return f'http://127.0.0.1:{self.port}/v3'

    @property
    def credentials(self):
        """Variables that make a client the admin: a dict of OS_*."""
        return openrc.credentials(self.url, self.password)

    @property
    def pid(self):
        """Process id of the running server, whose children are workers."""
        return self._server.pid

    @property
    def log(self):
        """Path of the server's log."""
        return self.state.path / 'server.log'

    @property
    def openrc(self):
        """Path of the file with the admin's environment."""
        return self.state.path / 'openrc'

    @property
    def clouds(self):
        """Path of the clouds.yaml with the admin's account."""
        return self.state.path / 'clouds.yaml'

    def prepare(self):
        """Make what is missing: keys, configuration, schema, admin.

        Nothing is done twice: with everything there it takes as long as a
        connection to the database. The state folder stays claimed until
        :meth:`stop`.

        :raises patchset.errors.Error: the folder, the database or the
            cache cannot be used; nothing that was there is lost
        """
        self.state.claim()
        try:
            if self.cache:
                cache_url.check(self.cache)
            found = self._inspect()
            record = self.state.record()
            self._choose_password(found, record)
            self._write_options()
            self._set_up(found, record)
            variables = self.credentials
            self.state.write('openrc', openrc.openrc(variables))
            self.state.write(
                'clouds.yaml', openrc.clouds(variables, 'keystone')
            )
        except BaseException:
            self.state.release()
            raise

    def _write_options(self):
        self.state.write('keystone.conf', keystone_conf.render(self.options))

    def _choose_password(self, found, record):
        ours = found['admin'] is None or found['admin'] == record.get(
            'admin',
            # A bootstrap of this very database was cut short.
            found['admin'] if record.get('pending') == self._mark() else None,
        )
        kept = self.state.read('admin-password')
        if not (ours and kept) and not self._wanted_password:
            if found['admin']:
                raise errors.Error(
                    f'{database_url.redacted(self.database)} already has an '
                    f'admin whose password is not in {self.state.path}: set '
                    f'a new password, or choose another database'
                )
            kept = secrets.token_urlsafe(18)
            self.password_is_new = True
            # Kept before it is used, so that no failure can lose it.
            self.state.write('admin-password', kept)
        self.password = self._wanted_password or kept
        self._password_changes = self.password != kept or not ours

    def _set_up(self, found, record):
        """Run the keystone-manage commands that are due."""
        self._make_signing_keys()
        commands = []
        for option, command in (
            ('fernet_tokens', 'fernet_setup'),
            ('fernet_receipts', 'fernet_setup'),
            ('credential', 'credential_setup'),
        ):
            keys = pathlib.Path(self.options[option]['key_repository'])
            words = [command, *self._owner()]
            if not (keys / '0').exists() and words not in commands:
                commands.append(words)
        migrations = _names(self.tree / MIGRATIONS)
        stale = (
            not found['revisions']
            or found['revisions'] != record.get('revisions')
            or migrations != record.get('migrations')
        )
        if stale:
            commands.append(['db_sync'])
        if (
            stale
            or self._password_changes
            or not found['admin']
            or found['admin'] != record.get('admin')
            or record.get('url') != self.url
        ):
            if not found['admin']:
                self.state.note({'pending': self._mark()})
            commands.append(
                [
                    'bootstrap',
                    '--bootstrap-region-id', 'RegionOne',
                    '--bootstrap-public-url', self.url,
                    '--bootstrap-internal-url', self.url,
                    '--bootstrap-admin-url', self.url,
                ]
            )  # fmt: skip
        if not commands:
            return
        names = ', '.join(words[0] for words in commands)
        with progress.stage(f'keystone-manage: {names}'):
            self._manage(commands)
        now = self._inspect()
        self.state.write('admin-password', self.password)
        self.state.note(
            {
                'admin': now['admin'],
                'revisions': now['revisions'],
                'migrations': migrations,
                'url': self.url,
            }
        )

    def _make_signing_keys(self):
        """Make the keys that JWS tokens are signed with, if they are used."""
        if self.options['token']['provider'] != 'jws':
            return
        private, public = (
            pathlib.Path(self.options['jwt_tokens'][f'jws_{one}_repository'])
            for one in ('private_key', 'public_key')
        )
        key = public / 'public.pem'
        if key.exists():
            return
        for folder in (private, public):
            folder.mkdir(mode=0o700, exist_ok=True)
        # An incomplete pair is created again.
        words = ['create_jws_keypair', '--force', *self._owner()]
        self._manage([words], cwd=private)
        os.replace(private / key.name, key)

    @staticmethod
    def _owner():
        # Root has to say who owns the keys.
        if os.geteuid() == 0:
            return ['--keystone-user', 'root', '--keystone-group', 'root']
        return []

    def _mark(self):
        """A name for the database that tells no password."""
        return hashlib.sha256(self.database.encode()).hexdigest()

    def _inspect(self):
        """What the database holds; see inside/database.py.

        :raises patchset.errors.Error: it cannot be reached
        """
        answer = json.loads(
            self._script(
                'database.py',
                {'url': self.database, 'timeout': CONNECT},
                'asking the database',
            )
        )
        if 'error' in answer:
            reason = answer['error']
            for password in database_url.passwords(self.database):
                reason = reason.replace(password, '***')
            raise errors.Error(
                f'database {database_url.redacted(self.database)}: {reason}'
            )
        return answer

    def _manage(self, commands, cwd=None):
        log = self.state.path / 'manage.log'
        start = logs.size(log)
        try:
            self._script(
                'manage.py',
                {
                    'arguments': [
                        '--config-file', f'{self.state.path}/keystone.conf',
                        '--config-dir', f'{self.state.path}/keystone.conf.d',
                    ],
                    'commands': commands,
                    'environment': {'OS_BOOTSTRAP_PASSWORD': self.password},
                    'log': str(log),
                },
                'keystone-manage',
                cwd,
            )  # fmt: skip
        except errors.Error as error:
            if logs.size(log) == start:
                raise
            raise errors.Error(
                f'{error}: {logs.reason(log, start)}; see {log}'
            )

    def _script(self, name, request, what, cwd=None):
        return process.run(
            [self.environment.python, '-P', '-Wignore', SCRIPTS / name],
            env=self.environment.variables(self.tree),
            stdin=json.dumps(request),
            what=what,
            cwd=cwd,
        )

    def start(self):
        """Start the server and wait until every process of it is ready.

        :raises patchset.errors.Error: the port is taken, or the server
            ended or did not get ready in time
        """
        self.launch()
        self.get_ready()

    def launch(self):
        """Start the server, which is not ready yet.

        :raises patchset.errors.Error: the port is taken
        """
        ports.check(self.port)
        (self.state.path / _READY).unlink(missing_ok=True)
        self._log_start = logs.size(self.log)
        with open(self.log, 'ab', opener=_private) as log:
            self._server = child.start(
                wsgi.command(
                    self.environment,
                    self.tree,
                    self.port,
                    self.processes,
                    self.threads,
                    _READY,
                ),
                cwd=self.state.path,
                env=self._variables(),
                stdout=log,
                stderr=log,
                umask=0o077,
            )
        self.state.write('pid', f'{self._server.pid}\n')

    def _variables(self):
        """The server's environment: a dict."""
        return wsgi.variables(self.environment, self.tree)

    def get_ready(self):
        """Wait until every process of a server that was launched is ready.

        :raises patchset.errors.Error: the server ended or did not get ready
            in time
        """
        deadline = time.monotonic() + PATIENCE
        try:
            while not self._is_ready():
                if self._server.poll() is not None:
                    raise self._error('the server did not start')
                if time.monotonic() > deadline:
                    raise self._error(
                        f'the server was not ready after {PATIENCE} seconds'
                    )
                time.sleep(0.05)
        except BaseException:
            self.end()
            raise

    def _is_ready(self):
        path = self.state.path / _READY
        try:
            return len(path.read_text().splitlines()) >= self.processes
        except FileNotFoundError:
            return False

    def wait(self):
        """Wait for the server to end, which it does not do by itself.

        :raises patchset.errors.Error: it did
        """
        code = self._server.wait()
        raise self._error(f'the server ended by itself (exit {code})')

    def manage(self, words, **options):
        """Start a keystone-manage command.

        :param words: its name and arguments
        :param options: further arguments of :class:`subprocess.Popen`
        :returns: the process, for :func:`patchset.child.stop`
        """
        program = 'from keystone.cmd import manage; manage.main()'
        return child.start(
            [
                self.environment.python, '-P', '-Wignore', '-c', program,
                '--config-file', self.state.path / 'keystone.conf',
                '--config-dir', self.state.path / 'keystone.conf.d',
                *words,
            ],
            cwd=self.state.path,
            env=wsgi.variables(self.environment, self.tree),
            **options,
        )  # fmt: skip

    def restart(self, options=None):
        """Restart the server; its processes lose their caches.

        :param options: {section: {option: value}}, on top of those it had
        """
        self.end()
        self.options = keystone_conf.merge(self.options, options)
        self._write_options()
        self.start()

    def stop(self):
        """Stop the server and give up the state folder.

        Requests under way have some seconds to end.
        """
        try:
            self.end()
        finally:
            self.state.release()

    def end(self):
        """End the server, which can be started again."""
        if not self._server:
            return
        # The master alone is asked, and then asks its workers in order.
        self._server.terminate()
        try:
            self._server.wait(2 * wsgi.MERCY)
        except subprocess.TimeoutExpired:
            pass
        child.stop(self._server)
        self._server = None
        (self.state.path / 'pid').unlink(missing_ok=True)

    def _error(self, what):
        reason = logs.reason(self.log, self._log_start)
        return errors.Error(f'{what}: {reason}; see {self.log}')


def _names(folder):
    """A digest of the names of the files below a folder."""
    paths = folder.rglob('*.py')
    names = sorted(str(path.relative_to(folder)) for path in paths)
    return hashlib.sha256('\n'.join(names).encode()).hexdigest()


def _private(path, flags):
    return os.open(path, flags, 0o600)
