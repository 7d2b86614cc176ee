# SPDX-License-Identifier: Apache-2.0

"""What the private servers have in common."""

import contextlib
import os
import pathlib
import pwd
import re
import secrets
import shutil
import signal
import socket
import subprocess
import tempfile

from patchset import child
from patchset import errors
from patchset import stopping

# Lines of a log.
_TELLING = re.compile(r'.*(?:error|fatal|denied)(?!.* Aborting$).*', re.I)
TRIES = 3  # ports to try: another program may take one in between


def free_port():
    """An unused TCP port of the loopback interface."""
    return free_ports(1)[0]


def free_ports(count):
    """Several TCP ports as :func:`free_port` gives them, all different."""
    with contextlib.ExitStack() as stack:
        taken = [stack.enter_context(socket.socket()) for _ in range(count)]
        for one in taken:
            one.bind(('127.0.0.1', 0))
        return [one.getsockname()[1] for one in taken]


class Service:
    """One or more servers that start and stop together; a context manager.

    Subclasses start them in ``_start``, and leave in ``_stack`` what undoes
    it. This is done as well if one does not start.
    """

    def __init__(self):
        self._stack = contextlib.ExitStack()

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *_):
        self.stop()

    def start(self):
        """Start it.

        :raises patchset.errors.Error: it did not start; the message ends
            with a server's last words
        """
        try:
            self._start()
        except BaseException:
            self.stop()
            raise

    def stop(self):
        """Stop it, and remove its files."""
        self._stack.close()

    def _start(self):
        raise NotImplementedError


class Server(Service):
    """A server of the distribution's package, for this program alone.

    It listens on a free port of the loopback interface, keeps its files
    in a temporary folder and is gone, files and all, at the end of the
    ``with`` block. Run by root, it becomes an unprivileged user.

    :param folder: where to make the temporary folder; a server run by
        root needs one that its user can reach
    """

    name = None
    users = ('nobody',)  # to become one of them, for root
    stop_signal = signal.SIGTERM
    patience = 60  # seconds that it has to answer
    prefix = ()  # words of a command that runs the server's

    def __init__(self, folder=None):
        super().__init__()
        self._parent = folder
        self.folder = None
        self.port = None
        self._process = None

    @property
    def log(self):
        """Path of the file that has the server's messages."""
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
        """Name of the user to become; None where nothing changes."""
        if os.geteuid() != 0:
            return None
        known = {entry.pw_name for entry in pwd.getpwall()}
        return next(user for user in self.users if user in known)

    def _start(self):
        prefix = f'ks-{self.name}-'
        with stopping.deferred():
            folder = tempfile.mkdtemp(prefix=prefix, dir=self._parent)
            self._stack.callback(shutil.rmtree, folder, ignore_errors=True)
        self._stack.callback(self._end)
        self.folder = pathlib.Path(folder)
        if self.user:
            shutil.chown(self.folder, self.user)
        self._prepare()
        if not any(self._listens() for _ in range(TRIES)):
            raise self._error('did not start')

    def _end(self):
        if self._process:
            child.stop(self._process, self.stop_signal)
            self._process = None

    def kill(self):
        """End it at once; its port and its files stay, for :meth:`revive`."""
        os.kill(self.pid, signal.SIGKILL)
        self._process.wait(self.patience)

    def revive(self):
        """Start it again, on the port that it had.

        :raises patchset.errors.Error: it did not answer
        """
        if not self._serves():
            raise self._error('did not start again')

    def restart(self):
        """Stop it in order, and start it again on the port that it had.

        :raises patchset.errors.Error: it did not answer
        """
        with self.down(self.stop_signal):
            pass

    @contextlib.contextmanager
    def down(self, how=signal.SIGKILL):
        """Be ended by a signal during the block, and start again after it.

        :raises patchset.errors.Error: it did not answer
        """
        child.stop(self._process, how)
        yield
        self.revive()

    @contextlib.contextmanager
    def paused(self):
        """Answer nothing, and let connections wait."""
        os.kill(self.pid, signal.SIGSTOP)
        try:
            yield
        finally:
            os.kill(self.pid, signal.SIGCONT)

    def _listens(self):
        self.port = self._choose_port()
        return self._serves()

    def _choose_port(self):
        return free_port()

    def _serves(self):
        self._spawn(self._command())
        child.wait_until(
            lambda: self._answers() or not self.is_running,
            self.patience,
            lambda: self._error(f'did not answer within {self.patience} s'),
        )
        return self.is_running

    def _spawn(self, command):
        with open(self.log, 'a') as log, stopping.deferred():
            self._process = child.start(
                command, user=self.user, prefix=self.prefix, cwd=self.folder,
                env=self._variables(), stdout=log, stderr=log,
            )  # fmt: skip

    def _talk(self, command, **options):
        """Run a client of the server; the finished process, with text."""
        options = {'stdout': subprocess.PIPE, **options}
        words = [str(word) for word in command]
        return subprocess.run(
            words, stderr=subprocess.PIPE, text=True, **options
        )

    def _checked(self, done):
        """What a client printed.

        :raises patchset.errors.Error: it failed; the server's own message
        """
        if done.returncode:
            reason = (done.stderr or done.stdout or '').strip()
            raise errors.Error(f'{self.name}: {reason}')
        return done.stdout

    def _run(self, command):
        """Run a command to its end as the server's user."""
        self._spawn(command)
        if self._process.wait():
            raise self._error(f'could not be set up by {command[0]}')

    def _write(self, name, text):
        """Make a file that only the server's user can read."""
        path = self.folder / name
        path.touch(mode=0o600)
        path.write_text(text)
        if self.user:
            shutil.chown(path, self.user)
        return path

    def _error(self, what):
        reason = child.last_words(self.log, telling=_TELLING)
        return errors.Error(f'{self.name} {what}: {reason}')

    def _prepare(self):
        """Make the files that the server starts from."""

    def _command(self):
        """Words of the command that serves on ``self.port``."""
        raise NotImplementedError

    def _variables(self):
        """The server's environment; None for that of this program."""

    def _answers(self):
        """Whether this very server, and no other, answers on the port."""
        raise NotImplementedError


class Database(Server):
    """A database server with one user, who may do everything.

    :param folder: where to make the server's temporary folder
    :param durable: write to disk at each commit, as a production server
        does; off, commits cost less than they will in production
    """

    def __init__(self, folder=None, durable=False):
        super().__init__(folder)
        self._durable = durable
        self._password = secrets.token_hex(16)

    def query(self, statement, database=None):
        """Result of one SQL statement: a list of lists of strings.

        :raises patchset.errors.Error: the server's own message
        """
        lines = self._checked(self._ask(statement, database)).splitlines()
        return [line.split('\t') for line in lines]

    def _ask(self, statement, database=None):
        """Make one SQL statement; the finished client."""
        raise NotImplementedError

    def _answers(self):
        return self._ask('SELECT 1').returncode == 0
