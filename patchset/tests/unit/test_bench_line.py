# SPDX-License-Identifier: Apache-2.0

"""Tests of the long line to a server."""

import os
import pathlib
import socket
import threading
import time

import testtools

from bench import line


class LineTestCase(testtools.TestCase):
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

    def test_an_answer_takes_as_long_as_said(self):
        with line.Line(self.port) as far:
            self.assertEqual(b'x', self.ask(far.port, b'x')[0])
            far.lengthen(400)
            deadline = time.monotonic() + 60
            while self.ask(far.port, b'x')[1] < 0.4:
                self.assertLess(time.monotonic(), deadline)

    def test_a_share_of_the_delay(self):
        shares = [[0, self.port, share] for share in (0, 0.5, 1)]
        with line.Lines(shares) as lines:
            lines.lengthen(400)
            deadline = time.monotonic() + 60
            while self.ask(lines.places[2], b'x')[1] < 0.4:
                self.assertLess(time.monotonic(), deadline)
            half = self.fastest(lines.places[1])
            self.assertTrue(0.2 <= half < 0.4, half)
            self.assertLess(self.fastest(lines.places[0]), 0.2)

    def test_it_is_long_and_not_slow(self):
        data = os.urandom(4 << 20)
        with line.Line(self.port) as far:
            far.lengthen(400)
            while self.ask(far.port, b'x')[1] < 0.4:
                pass
            answer, took = self.ask(far.port, data)
        self.assertEqual(data, answer)
        # 64 chunks one after the other would take 25 seconds.
        self.assertLess(took, 15)

    def test_only_the_address_is_changed(self):
        with line.Line(self.port) as far:
            self.assertEqual(
                f'mysql+pymysql://u:p@127.0.0.1:{far.port}/stock',
                far.through(
                    f'mysql+pymysql://u:p@127.0.0.1:{self.port}/stock'
                ),
            )

    def test_it_ends_with_the_block(self):
        with line.Line(self.port) as far:
            pid = far.pid
            self.assertTrue(pathlib.Path(f'/proc/{pid}').exists())
        self.assertFalse(pathlib.Path(f'/proc/{pid}').exists())
