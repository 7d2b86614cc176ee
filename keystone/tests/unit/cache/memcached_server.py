# SPDX-License-Identifier: Apache-2.0

"""As much of memcached as the clients of Keystone's cache use."""

import itertools
import socket
import socketserver
import threading

import fixtures


class MemcachedServer(fixtures.Fixture):
    """A memcached on the loopback interface, on a thread of this process.

    ``items`` is what it holds: ``{key: (flags, expiry, value, version)}`` with
    the expiry as the client gave it, in seconds, and a version that changes
    each time the key is stored. ``takes`` is false while it refuses to write,
    and closes the connection, as its client does. Otherwise, it could execute
    further commands after those that the client sends on another connection.
    ``answers`` is false while it closes the connection after a write.
    ``reads`` is what it answers to a read, before it closes the connection;
    None for the values.
    """

    def _setUp(self):
        self.items = {}
        self.versions = itertools.count(1)
        self.takes = self.answers = True
        self.reads = None
        self.commands = []
        self.lock = threading.Lock()
        self._connections = set()
        self._server = None
        self.port = None
        self.start()
        self.addCleanup(self.stop)

    @property
    def address(self):
        return f'127.0.0.1:{self.port}'

    def start(self):
        """Listen, on the port that it had before if it had one."""
        self._server = _TCPServer(('127.0.0.1', self.port or 0), _Handler)
        self._server.memcached = self
        self.port = self._server.server_address[1]
        threading.Thread(
            target=self._server.serve_forever, args=(0.01,), daemon=True
        ).start()

    def stop(self):
        """End it, with all its connections; its items stay."""
        if self._server is None:
            return
        self._server.shutdown()
        self._server.server_close()
        self._server = None
        for connection in list(self._connections):
            try:
                connection.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass  # nosec: its client was first


class _TCPServer(socketserver.ThreadingTCPServer):
    allow_reuse_address = True
    daemon_threads = True
    block_on_close = False


class _Handler(socketserver.StreamRequestHandler):
    def setup(self):
        super().setup()
        self._memcached = self.server.memcached
        self._memcached._connections.add(self.connection)

    def finish(self):
        self._memcached._connections.discard(self.connection)
        super().finish()

    def handle(self):
        try:
            for line in self.rfile:
                name, *words = line.decode().split()
                self._memcached.commands.append(name)
                getattr(self, f'_{name}')(*words)
        except OSError:
            pass  # nosec: one of both ends has closed it

    def _get(self, *keys, with_version=False):
        if self._memcached.reads is not None:
            self.wfile.write(self._memcached.reads)
            raise ConnectionAbortedError
        answer = b''
        for key in keys:
            flags, expiry, value, version = self._memcached.items.get(
                key, (0, -1, b'', 0)
            )
            # Expiry is not simulated.
            if expiry >= 0:
                head = f'VALUE {key} {flags} {len(value)}'
                if with_version:
                    head += f' {version}'
                answer += head.encode() + b'\r\n' + value + b'\r\n'
        self.wfile.write(answer + b'END\r\n')

    def _gets(self, *keys):
        self._get(*keys, with_version=True)

    def _refuse(self):
        self.wfile.write(b'SERVER_ERROR out of memory\r\n')
        raise ConnectionAbortedError

    def _store(self, key, flags, expiry, size, is_right):
        value = self.rfile.read(int(size) + 2)[:-2]
        if not self._memcached.takes:
            self._refuse()
        with self._memcached.lock:
            answer = is_right()
            if answer == b'STORED':
                self._memcached.items[key] = (
                    int(flags), int(expiry), value,
                    next(self._memcached.versions),
                )  # fmt: skip
        if not self._memcached.answers:
            raise ConnectionAbortedError
        self.wfile.write(answer + b'\r\n')

    def _set(self, key, flags, expiry, size):
        self._store(key, flags, expiry, size, lambda: b'STORED')

    def _add(self, key, flags, expiry, size):
        def is_right():
            there = key in self._memcached.items
            return b'NOT_STORED' if there else b'STORED'

        self._store(key, flags, expiry, size, is_right)

    def _cas(self, key, flags, expiry, size, version):
        def is_right():
            if key not in self._memcached.items:
                return b'NOT_FOUND'
            is_same = int(version) == self._memcached.items[key][-1]
            return b'STORED' if is_same else b'EXISTS'

        self._store(key, flags, expiry, size, is_right)

    def _delete(self, key):
        if not self._memcached.takes:
            self._refuse()
        found = self._memcached.items.pop(key, None)
        self.wfile.write(b'DELETED\r\n' if found else b'NOT_FOUND\r\n')
