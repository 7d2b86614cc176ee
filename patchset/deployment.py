# SPDX-License-Identifier: Apache-2.0

"""One running Keystone: a tree, its files, its database and its cache."""

import contextlib
import pathlib
import subprocess

from patchset import child
from patchset import errors
from patchset import keystone_conf
from patchset import openrc
from patchset import paths
from patchset import ports
from patchset import preparation
from patchset import state as states
from patchset import stopping
from patchset import urls
from patchset import wsgi
from patchset.services import server

PATIENCE = 120  # seconds that the server has to load Keystone
_READY = 'ready'  # file with a line for each process that is


class Deployment(server.Service):
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

    password = None  # the admin's, from prepare() on
    password_is_new = False  # made by the last prepare()
    _server = None
    _log_start = 0

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
        super().__init__()
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
            urls.normalise(database)
            if database
            else f'sqlite:///{self.state.path}/keystone.db'
        )
        self.options = keystone_conf.merge(
            keystone_conf.defaults(self.state.path, self.database, cache),
            options,
        )
        #: Paths of the server's log and of the admin's environment.
        self.log = self.state.path / 'server.log'
        self.openrc = self.state.path / 'openrc'
        self.clouds = self.state.path / 'clouds.yaml'
        self._wanted_password = password

    def _start(self):
        self._stack.callback(self.stop)
        self.prepare()
        self.start()

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
    def is_running(self):
        return self._server is not None and self._server.poll() is None

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
                urls.check_cache(self.cache)
            made = preparation.Preparation(self, self._wanted_password)
            self.password = made.password
            self.password_is_new = made.password_is_new
            self._write_options()
            made.run()
            variables = self.credentials
            self.state.write('openrc', openrc.openrc(variables))
            self.state.write(
                'clouds.yaml', openrc.clouds(variables, 'keystone')
            )
        except BaseException:
            self.state.release()
            raise

    def prepare_like(self, first):
        """Prepare it where another one has made the schema and the admin.

        :param first: that one; the database may be a copy of its own
        """
        self.state.claim()
        self.state.write('admin-password', first.password)
        # As if keystone-manage had run with the address of this one.
        self.state.note({**first.state.record(), 'url': self.url})
        self.prepare()

    def _write_options(self):
        text = keystone_conf.HEADER + keystone_conf.render(self.options)
        self.state.write('keystone.conf', text)

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
        with (
            open(self.log, 'ab', opener=states.private) as log,
            stopping.deferred(),
        ):
            self._log_start = log.tell()
            self._server = child.start(
                wsgi.command(self, _READY),
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
        late = f'the server was not ready after {PATIENCE} seconds'
        try:
            child.wait_until(
                self._is_ready, PATIENCE, lambda: self._error(late)
            )
        except BaseException:
            self.end()
            raise

    def _is_ready(self):
        if self._server.poll() is not None:
            raise self._error('the server did not start')
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

    def manage(self, words, variables=None, **options):
        """Start a keystone-manage command.

        :param words: its name and arguments; of several, see the script
        :param variables: further environment variables
        :param options: further arguments of :class:`subprocess.Popen`
        :returns: a :class:`patchset.child.Process`
        """
        own = wsgi.variables(self.environment, self.tree)
        return child.start(
            [
                self.environment.python, '-P', '-Wignore',
                paths.SCRIPTS / 'manage.py',
                '--config-file', self.state.path / 'keystone.conf',
                '--config-dir', self.state.path / 'keystone.conf.d',
                *words,
            ],
            env={**own, **(variables or {})},
            **{'cwd': self.state.path, **options},
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

    def terminate(self):
        """Tell the server to end, without waiting as :meth:`end` does."""
        # The master alone is asked, and then asks its workers in order.
        if self.is_running:
            self._server.terminate()

    def end(self):
        """End the server, which can be started again."""
        if not self._server:
            return
        self.terminate()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._server.wait(2 * wsgi.MERCY)
        child.stop(self._server)
        self._server = None
        (self.state.path / 'pid').unlink(missing_ok=True)

    def _error(self, what):
        reason = child.last_words(self.log, self._log_start)
        return errors.Error(f'{what}: {reason}; see {self.log}')
