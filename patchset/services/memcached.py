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
    # An orderly end is not required, and takes a second.
    stop_signal = signal.SIGKILL
    megabytes = 64  # maximum memory of the items

    @property
    def url(self):
        """The address as ``memcached://HOST:PORT``."""
        return f'memcached://{self.address}'

    def stats(self):
        """The counters of the server: a dict of strings."""
        lines = self._send(b'stats\r\n').decode().splitlines()
        rows = (line.split(' ', 2) for line in lines if line[:5] == 'STAT ')
        return {name: value for _, name, value in rows}

    def flush(self):
        """Remove all items."""
        self._send(b'flush_all\r\n', b'OK\r\n')

    def dump(self):
        """All items, for :meth:`replace`."""
        items = [self._item(match.group(1)) for match in self._keys()]
        # Some have expired in the meantime.
        return [item for item in items if item]

    def replace(self, contents):
        """Replace the server by a new one with a result of :meth:`dump`."""
        self.kill()
        self.start_again()
        for key, flags, value in contents:
            self._send(
                b'set %s %s 0 %d\r\n%s\r\n' % (key, flags, len(value), value),
                b'STORED\r\n',
            )

    def _keys(self):
        # In the order of the hash table: an item that moves to another list
        # during the command could otherwise be missed.
        lines = self._send(b'lru_crawler metadump hash\r\n').splitlines()
        return [match for match in map(_ITEM.match, lines) if match]

    def _item(self, key):
        response = self._send(b'get %s\r\n' % key)
        if response == b'END\r\n':
            return None
        head, _, rest = response.partition(b'\r\n')
        _, key, flags, size = head.split()
        return key, flags, rest[: int(size)]

    def _send(self, command, end=b'END\r\n'):
        with socket.create_connection(('127.0.0.1', self.port), 10) as one:
            one.sendall(command)
            response = b''
            while not response.endswith(end):
                part = one.recv(65536)
                if not part:
                    raise ConnectionError('memcached closed the connection')
                response += part
        return response

    def _command(self):
        return [
            child.find('memcached'), '--listen=127.0.0.1',
            f'--port={self.port}', '--udp-port=0',
            f'--memory-limit={self.megabytes}', '--conn-limit=1024',
        ]  # fmt: skip

    def _is_ready(self):
        try:
            return self.stats().get('pid') == str(self.pid)
        except OSError:
            return False
