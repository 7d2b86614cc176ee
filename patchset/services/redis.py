# SPDX-License-Identifier: Apache-2.0

"""A private Redis server."""

import signal
import subprocess

from patchset import child
from patchset import errors
from patchset.services import server


class Redis(server.Server):
    """A Redis server that keeps nothing on disk.

    :param folder: where to make the server's temporary folder
    """

    name = 'redis'
    users = ('redis', 'nobody')
    stop_signal = signal.SIGKILL

    @property
    def address(self):
        """``HOST:PORT`` of the server."""
        return f'127.0.0.1:{self.port}'

    def query(self, *words):
        """Lines of the answer to one command.

        :raises patchset.errors.Error: the server's own message
        """
        done = self._ask(*words)
        if done.returncode:
            reason = done.stderr.strip() or done.stdout.strip()
            raise errors.Error(f'redis: {reason}')
        return done.stdout.splitlines()

    def flush(self):
        """Forget everything that is stored."""
        self.query('FLUSHALL')

    def _ask(self, *words):
        return subprocess.run(
            [
                child.find('redis-cli'), '-h', '127.0.0.1',
                '-p', str(self.port), '-e', *words,
            ],
            capture_output=True,
            text=True,
            errors='surrogateescape',
        )  # fmt: skip

    def _command(self):
        return [
            child.find('redis-server'), '--bind', '127.0.0.1',
            '--port', str(self.port), '--dir', self.folder,
            '--save', '', '--appendonly', 'no', '--daemonize', 'no',
        ]  # fmt: skip

    def _answers(self):
        done = self._ask('INFO', 'server')
        return f'process_id:{self.pid}' in done.stdout.splitlines()
