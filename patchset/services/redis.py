# SPDX-License-Identifier: Apache-2.0

"""A private Redis server."""

import signal

from patchset import child
from patchset.services import server


class Redis(server.Server):
    """A Redis server that keeps nothing on disk.

    :param folder: where to make the server's temporary folder
    """

    name = 'redis'
    users = ('redis', 'nobody')
    stop_signal = signal.SIGKILL

    def query(self, *words):
        """Lines of the answer to one command.

        :raises patchset.errors.Error: the server's own message
        """
        return self._checked(self._ask(*words)).splitlines()

    def flush(self):
        """Forget everything that is stored."""
        self.query('FLUSHALL')

    def _ask(self, *words):
        return self._talk(
            [
                child.find('redis-cli'), '-h', '127.0.0.1', '-p', self.port,
                '-e', *words,
            ],
            errors='surrogateescape',
        )  # fmt: skip

    def _command(self):
        return [
            child.find('redis-server'), '--bind', '127.0.0.1',
            '--port', self.port, '--dir', self.folder,
            '--save', '', '--appendonly', 'no', '--daemonize', 'no',
        ]  # fmt: skip

    def _answers(self):
        done = self._ask('INFO', 'server')
        return f'process_id:{self.pid}' in done.stdout.splitlines()
