# SPDX-License-Identifier: Apache-2.0

"""The counters of caches that servers send."""

import collections
import socket
import threading


class Counters:
    """A statsd server that adds up the counters it receives.

    :ivar counts: {last part of the name: sum}
    """

    def __init__(self):
        self.counts = collections.Counter()
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._socket.bind(('127.0.0.1', 0))
        self._thread = threading.Thread(target=self._listen)

    @property
    def options(self):
        """Options of a Keystone that sends its counters: {name: value}."""
        host, port = self._socket.getsockname()
        return {'statsd_host': host, 'statsd_port': port}

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *_):
        self._socket.sendto(b'', self._socket.getsockname())
        self._thread.join()
        self._socket.close()

    def _listen(self):
        while packet := self._socket.recv(65536):
            for line in packet.decode().splitlines():
                name, _, value = line.partition(':')
                number, _, kind = value.partition('|')
                if kind == 'c':
                    self.counts[name.rpartition('.')[2]] += int(number)
