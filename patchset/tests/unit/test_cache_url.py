# SPDX-License-Identifier: Apache-2.0

"""Tests of cache URLs, against a socket that answers as told."""

import socket
import threading

import testtools

from patchset import cache_url
from patchset import errors
from patchset.services import server


class AddressTestCase(testtools.TestCase):
    def test_address(self):
        self.assertEqual(
            ('cache.example', 11211),
            cache_url.address('memcached://cache.example:11211'),
        )

    def test_as_the_client_library_wants_it(self):
        self.assertEqual(
            '127.0.0.1:1', cache_url.servers('memcached://127.0.0.1:1')
        )
        self.assertEqual(
            'inet6:[::1]:1', cache_url.servers('memcached://[::1]:1')
        )

    def test_malformed(self):
        for url in (
            'redis://h:1',
            'memcached://',
            'memcached://h',
            'memcached://h:port',
            'memcached://h:99999',
            'memcached://h:1/path',
            'h:1',
        ):
            error = self.assertRaises(
                errors.UsageError, cache_url.address, url
            )
            self.assertIn('memcached://HOST:PORT', str(error))


class CheckTestCase(testtools.TestCase):
    def answer(self, text):
        """Serve one connection with a fixed answer; return its URL."""
        listener = socket.create_server(('127.0.0.1', 0))
        self.addCleanup(listener.close)

        def serve():
            connection, _ = listener.accept()
            with connection:
                connection.recv(512)
                connection.sendall(text)

        thread = threading.Thread(target=serve)
        thread.start()
        self.addCleanup(thread.join)
        return f'memcached://127.0.0.1:{listener.getsockname()[1]}'

    def test_memcached_answers(self):
        self.assertIsNone(cache_url.check(self.answer(b'VERSION 1.6\r\n')))

    def test_another_program_answers(self):
        error = self.assertRaises(
            errors.Error, cache_url.check, self.answer(b'-ERR unknown\r\n')
        )
        self.assertIn('another program', str(error))

    def test_nobody_answers(self):
        port = server.free_port()
        error = self.assertRaises(
            errors.Error, cache_url.check, f'memcached://127.0.0.1:{port}'
        )
        self.assertEqual(
            f'no memcached at 127.0.0.1:{port}: Connection refused', str(error)
        )
