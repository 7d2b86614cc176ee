# SPDX-License-Identifier: Apache-2.0

"""Base classes of the private servers."""

import contextlib
import os
import pwd
import re
import secrets
import shutil
import signal
import socket

from patchset import child
from patchset import errors
from patchset import paths
from patchset import stopping

# Lines of a log with the reason of a failure.
_REASON = re.compile(r'.*(?:error|fatal|denied)(?!.* Aborting$).*', re.I)
ATTEMPTS = 3  # another program may take a port in between


def free_port():
    """An unused TCP port of the loopback interface."""
    return free_ports(1)[0]


def free_ports(count):
    """Several different unused TCP ports of the loopback interface."""
    with contextlib.ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(count)]
        for one in sockets:
            one.bind(('127.0.0.1', 0))
        return [one.getsockname()[1] for one in sockets]


class Service:
    """One or more servers that start and stop together; a context manager.

    Subclasses start them in ``_start``, and add what undoes that to
    ``_stack``. It is also undone if one does not start.
    """

    def __init__(self):
        self._stack = contextlib.ExitStack()

    def __enter__(self):
        """Start the servers.

        :raises patchset.errors.Error: one did not start; the message ends
            with the reason from its log
        """
        try:
            self._start()
        except BaseException:
            self._stack.close()
            raise
        return self

    def __exit__(self, *_):
        self._stack.close()

    def _start(self):
        raise NotImplementedError


class Server(Service):
    """A server from a package of the distribution, only for this program.

    It listens on a free port of the loopback interface, and has its files
    in a temporary folder, which is removed at the end of the ``with``
    block. If started by root, it runs as an unprivileged user.

    :param folder: parent of the temporary folder; the server's user needs
        access to it
    """

    name = None
    users = ('nobody',)  # candidates to run as, if started by root
    stop_signal = signal.SIGTERM
    start_timeout = 60  # seconds
    prefix = ()  # of the server's command
    fixed_port = None  # to listen on; None selects a free one

    def __init__(self, folder=None):
        super().__init__()
        self._parent = folder
        self.folder = None
        self.port = None
        self._process = None

    @property
    def log(self):
        """Path of the server's log."""
        return self.folder / 'log'

    @property
    def pid(self):
        """Process id of the running server."""
        return self._process.pid

    @property
    def address(self):
        """``HOST:PORT`` of the server."""
        return f'127.0.0.1:{self.port}'

    @property
    def is_running(self):
        return self._process is not None and self._process.poll() is None

    @property
    def user(self):
        """Name of the user to run as; None for the current one."""
        if os.geteuid() != 0:
            return None
        known = {entry.pw_name for entry in pwd.getpwall()}
        return next(user for user in self.users if user in known)

    def _start(self):
        folder = paths.temporary(f'ks-{self.name}-', self._parent)
        self.folder = self._give(self._stack.enter_context(folder))
        self._stack.callback(self._end)
        self._prepare()
        for _ in range(ATTEMPTS):
            self.port = self.fixed_port or free_port()
            if self._start_process():
                return
        raise self._error('did not start')

    def _end(self):
        if self._process:
            child.stop(self._process, self.stop_signal)
            self._process = None

    def kill(self):
        """Kill the server; it can be started again."""
        os.kill(self.pid, signal.SIGKILL)
        self._process.wait(self.start_timeout)

    def start_again(self):
        """Start the server again on the same port.

        :raises patchset.errors.Error: it did not become ready
        """
        # Children of a killed server may take a moment to release its memory.
        if not any(self._start_process() for _ in range(ATTEMPTS)):
            raise self._error('did not start again')

    def restart(self):
        """Stop the server in order, and start it again on the same port.

        :raises patchset.errors.Error: it did not become ready
        """
        with self.stopped(self.stop_signal):
            pass

    @contextlib.contextmanager
    def stopped(self, signal_number=signal.SIGKILL):
        """Stop the server by a signal, and start it again after the block.

        :raises patchset.errors.Error: it did not become ready
        """
        child.stop(self._process, signal_number)
        yield
        self.start_again()

    @contextlib.contextmanager
    def paused(self):
        """Pause the server during the block; connections wait."""
        os.kill(self.pid, signal.SIGSTOP)
        try:
            yield
        finally:
            os.kill(self.pid, signal.SIGCONT)

    def _start_process(self):
        self._spawn(self._command())
        child.wait_until(
            lambda: self._is_ready() or not self.is_running,
            self.start_timeout,
            lambda: self._error(
                f'was not ready within {self.start_timeout} s'
            ),
        )
        return self.is_running

    def _spawn(self, command):
        with open(self.log, 'a') as log, stopping.deferred():
            self._process = child.start(
                command, user=self.user, prefix=self.prefix, cwd=self.folder,
                env=self._variables(), stdout=log, stderr=log,
            )  # fmt: skip

    def _output(self, process):
        """Output of a client.

        :raises patchset.errors.Error: it failed; the server's own message
        """
        if process.returncode:
            reason = (process.stderr or process.stdout or '').strip()
            raise errors.Error(f'{self.name}: {reason}')
        return process.stdout

    def _run(self, command):
        """Run a command as the server's user until it ends."""
        self._spawn(command)
        if self._process.wait():
            raise self._error(f'could not be set up by {command[0]}')

    def _write(self, name, text):
        """Write a file that only the server's user can read."""
        path = self.folder / name
        path.touch(mode=0o600)
        path.write_text(text)
        return self._give(path)

    def _make_folder(self, name):
        """Create a folder that only the server's user can use."""
        path = self.folder / name
        path.mkdir(mode=0o700)
        return self._give(path)

    def _give(self, path):
        if self.user:
            shutil.chown(path, self.user)
        return path

    def _error(self, problem):
        reason = child.last_words(self.log, telling=_REASON)
        return errors.Error(f'{self.name} {problem}: {reason}')

    def _prepare(self):
        """Create the files that the server requires."""

    def _command(self):
        """The server's command, with ``self.port``: a list."""
        raise NotImplementedError

    def _variables(self):
        """Environment of the server; None for that of this program."""

    def _is_ready(self):
        """Whether this server, and no other one, responds on the port."""
        raise NotImplementedError


class Database(Server):
    """A database server with one user, who has all privileges.

    :param durable: whether to write to disk at each commit, as a
        production server does
    """

    def __init__(self, folder=None, durable=False):
        super().__init__(folder)
        self._durable = durable
        self._password = secrets.token_hex(16)

    def query(self, statement, database=None):
        """Result of an SQL statement: a list of lists of strings.

        :raises patchset.errors.Error: the server's own message
        """
        lines = self._output(self._execute(statement, database)).splitlines()
        return [line.split('\t') for line in lines]

    def url(self, database, port=None):
        """SQLAlchemy URL of a database, created if missing.

        :param port: port of a proxy, by default that of the server
        """
        raise NotImplementedError

    def _execute(self, statement, database=None):
        """Execute an SQL statement: the completed process of the client."""
        raise NotImplementedError

    def _is_ready(self):
        return self._execute('SELECT 1').returncode == 0
