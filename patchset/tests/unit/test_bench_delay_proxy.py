# SPDX-License-Identifier: Apache-2.0

"""Tests of the proxies that add a delay."""

import os
import pathlib
import socket
import threading
import time

import testtools

from bench import delay_proxy


class DelayProxyTestCase(testtools.TestCase):
    """A server that sends back what it is sent."""

    def setUp(self):
        super().setUp()
        listener = socket.create_server(('127.0.0.1', 0))
        self.addCleanup(listener.close)
        self.port = listener.getsockname()[1]
        self.listener = listener
        thread = threading.Thread(target=self.serve)
        thread.start()
        self.addCleanup(thread.join)
        self.addCleanup(listener.shutdown, socket.SHUT_RDWR)

    def serve(self):
        while True:
            try:
                client, _ = self.listener.accept()
            except OSError:
                return
            with client:
                while data := client.recv(65536):
                    client.sendall(data)

    def ask(self, port, data):
        """What comes back, and how long it takes."""
        start = time.monotonic()
        with socket.create_connection(('127.0.0.1', port), 60) as one:
            sender = threading.Thread(target=one.sendall, args=(data,))
            sender.start()
            answer = bytearray()
            while len(answer) < len(data):
                answer += one.recv(65536)
            sender.join()
        return bytes(answer), time.monotonic() - start

    def fastest(self, port):
        """How long an answer takes where the machine is not busy."""
        return min(self.ask(port, b'x')[1] for _ in range(5))

    def test_delay_of_a_response(self):
        with delay_proxy.DelayProxies([[0, self.port, 1]]) as proxies:
            self.assertEqual(b'x', self.ask(proxies.addresses[0], b'x')[0])
            proxies.set_delay(400)
            deadline = time.monotonic() + 60
            while self.ask(proxies.addresses[0], b'x')[1] < 0.4:
                self.assertLess(time.monotonic(), deadline)

    def test_a_share_of_the_delay(self):
        shares = [[0, self.port, share] for share in (0, 0.5, 1)]
        with delay_proxy.DelayProxies(shares) as proxies:
            proxies.set_delay(400)
            deadline = time.monotonic() + 60
            while self.ask(proxies.addresses[2], b'x')[1] < 0.4:
                self.assertLess(time.monotonic(), deadline)
            half = self.fastest(proxies.addresses[1])
            self.assertTrue(0.2 <= half < 0.4, half)
            self.assertLess(self.fastest(proxies.addresses[0]), 0.2)

    def test_the_delay_does_not_limit_the_bandwidth(self):
        data = os.urandom(4 << 20)
        with delay_proxy.DelayProxies([[0, self.port, 1]]) as proxies:
            proxies.set_delay(400)
            while self.ask(proxies.addresses[0], b'x')[1] < 0.4:
                pass
            answer, took = self.ask(proxies.addresses[0], data)
        self.assertEqual(data, answer)
        # 64 chunks one after the other would take 25 seconds.
        self.assertLess(took, 15)

    def test_it_ends_with_the_block(self):
        with delay_proxy.DelayProxies([[0, self.port, 1]]) as proxies:
            pid = proxies.pid
            self.assertTrue(pathlib.Path(f'/proc/{pid}').exists())
        self.assertFalse(pathlib.Path(f'/proc/{pid}').exists())
