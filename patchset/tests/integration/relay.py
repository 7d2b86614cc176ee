# SPDX-License-Identifier: Apache-2.0

"""A relay in front of a server, which counts how often it is asked."""

import contextlib
import socket
import threading


class Relay:
    """Hands on what a server and its clients say.

    A round trip is whatever a client says until the server answers.

    :param port: TCP port of the server on 127.0.0.1
    """

    def __init__(self, port):
        self._server = port
        self._lock = threading.Lock()
        self._listener = socket.create_server(('127.0.0.1', 0))
        self.port = self._listener.getsockname()[1]
        self.round_trips = 0
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self):
        """Take no more connections; those that are open stay."""
        # It wakes the thread that accepts.
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()

    def _accept(self):
        while True:
            try:
                client, _address = self._listener.accept()
            except OSError:
                return
            server = socket.create_connection(('127.0.0.1', self._server))
            for one in (client, server):
                one.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            asked = threading.Event()
            for args in ((client, server, asked), (server, client, asked)):
                threading.Thread(
                    target=self._hand_on,
                    args=(*args, args[0] is client),
                    daemon=True,
                ).start()

    def _hand_on(self, source, target, asked, is_client):
        with contextlib.suppress(OSError), source, target:
            while data := source.recv(65536):
                if not is_client:
                    asked.clear()
                elif not asked.is_set():
                    asked.set()
                    with self._lock:
                        self.round_trips += 1
                self.hand_on(data, target, is_client)

    def hand_on(self, data, target, is_client):
        """Hand on what a client, or the server, says."""
        target.sendall(data)
