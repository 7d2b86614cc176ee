# SPDX-License-Identifier: Apache-2.0

"""A private memcached server."""

import re
import signal
import socket

from patchset import child
from patchset.services import server

_ITEM = re.compile(rb'key=(\S+) exp=(-?\d+) ')


class Memcached(server.Server):
    """A memcached server."""

    name = 'memcached'
    users = ('memcache', 'nobody')
    # Nothing of it is kept, and an orderly end takes it a second.
    stop_signal = signal.SIGKILL
    megabytes = 64  # memory that it may fill with items

    @property
    def url(self):
        """The address as ``memcached://HOST:PORT``."""
        return f'memcached://{self.address}'

    def stats(self):
        """The server's counters: a dict of strings, as it names them."""
        lines = self._ask(b'stats\r\n').decode().splitlines()
        rows = (line.split(' ', 2) for line in lines if line[:5] == 'STAT ')
        return {name: value for _, name, value in rows}

    def flush(self):
        """Forget everything that is stored."""
        self._ask(b'flush_all\r\n', b'OK\r\n')

    def dump(self):
        """All items, for :meth:`load` and :meth:`replace`."""
        items = [self._item(one.group(1)) for one in self._found()]
        # Some have expired since they were found.
        return [item for item in items if item]

    def replace(self, contents):
        """Put another server in its place, with what :meth:`dump` returned."""
        self.kill()
        self.revive()
        self.load(contents)

    def load(self, contents):
        """Store what :meth:`dump` returned."""
        for key, flags, value in contents:
            self._ask(
                b'set %s %s 0 %d\r\n%s\r\n' % (key, flags, len(value), value),
                b'STORED\r\n',
            )

    def _found(self):
        # By the hash table: an item can move from one list to another while
        # the lists are walked, and be missed.
        lines = self._ask(b'lru_crawler metadump hash\r\n').splitlines()
        return [one for one in map(_ITEM.match, lines) if one]

    def _item(self, key):
        answer = self._ask(b'get %s\r\n' % key)
        if answer == b'END\r\n':
            return None
        head, _, rest = answer.partition(b'\r\n')
        _, key, flags, size = head.split()
        return key, flags, rest[: int(size)]

    def _ask(self, command, end=b'END\r\n'):
        with socket.create_connection(('127.0.0.1', self.port), 10) as one:
            one.sendall(command)
            answer = b''
            while not answer.endswith(end):
                part = one.recv(65536)
                if not part:
                    raise ConnectionError('memcached closed the connection')
                answer += part
        return answer

    def _command(self):
        return [
            child.find('memcached'), '--listen=127.0.0.1',
            f'--port={self.port}', '--udp-port=0',
            f'--memory-limit={self.megabytes}', '--conn-limit=1024',
        ]  # fmt: skip

    def _answers(self):
        try:
            return self.stats().get('pid') == str(self.pid)
        except OSError:
            return False
