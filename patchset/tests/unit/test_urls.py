# SPDX-License-Identifier: Apache-2.0

"""Tests of URLs; those of caches against a socket that answers as told."""

import pathlib
import socket
import threading

import testtools

from patchset import errors
from patchset import urls
from patchset.services import server


class DatabaseTestCase(testtools.TestCase):
    def test_driver_is_named(self):
        for scheme, driver in (
            ('mysql', 'mysql+pymysql'),
            ('mysql+pymysql', 'mysql+pymysql'),
            ('mariadb', 'mysql+pymysql'),
            ('postgres', 'postgresql+psycopg2'),
            ('postgresql', 'postgresql+psycopg2'),
        ):
            self.assertEqual(
                f'{driver}://u:p%40@h:1/k?charset=utf8mb4',
                urls.normalise(f'{scheme}://u:p%40@h:1/k?charset=utf8mb4'),
            )

    def test_sqlite_path_becomes_absolute(self):
        here = pathlib.Path.cwd()
        for url, expected in (
            ('sqlite:////var/k.db', 'sqlite:////var/k.db'),
            ('sqlite:///k.db', f'sqlite:///{here}/k.db'),
            ('sqlite:///k.db?timeout=3', f'sqlite:///{here}/k.db?timeout=3'),
        ):
            self.assertEqual(expected, urls.normalise(url))

    def test_sqlite_in_memory_is_refused(self):
        for url in ('sqlite://', 'sqlite:///', 'sqlite:///:memory:'):
            error = self.assertRaises(errors.UsageError, urls.normalise, url)
            self.assertIn('needs a file', str(error))

    def test_unknown_dialect_is_named_and_the_password_is_not(self):
        for url, name in (
            ('oracle://u:sesame@h/k', "'oracle'"),
            ('u:sesame@h/k', "''"),
        ):
            error = self.assertRaises(errors.UsageError, urls.normalise, url)
            self.assertIn(f'unknown dialect {name}', str(error))
            self.assertNotIn('sesame', str(error))


class SecretTestCase(testtools.TestCase):
    def test_redacted(self):
        for url, expected in (
            ('mysql+pymysql://u:p@h:1/k', 'mysql+pymysql://h:1/k'),
            ('mysql://u:p@q@h/k?password=x', 'mysql://h/k'),
            ('postgresql://h/k', 'postgresql://h/k'),
            ('sqlite:////var/k.db', 'sqlite:////var/k.db'),
        ):
            self.assertEqual(expected, urls.redacted(url))

    def test_passwords_in_both_spellings(self):
        self.assertEqual(
            ['p%40w', 'p@w'], urls.passwords('mysql://u:p%40w@h/k')
        )
        self.assertEqual([], urls.passwords('mysql://u@h/k'))
        self.assertEqual([], urls.passwords('sqlite:////k.db'))


class CacheAddressTestCase(testtools.TestCase):
    def test_address(self):
        self.assertEqual(
            ('cache.example', 11211),
            urls.cache_address('memcached://cache.example:11211'),
        )

    def test_as_the_client_library_wants_it(self):
        self.assertEqual(
            '127.0.0.1:1', urls.cache_servers('memcached://127.0.0.1:1')
        )
        self.assertEqual(
            'inet6:[::1]:1', urls.cache_servers('memcached://[::1]:1')
        )

    def test_malformed(self):
        for url in (
            'redis://h:1',
            'memcached://',
            'memcached://h',
            'memcached://h:port',
            'memcached://h:99999',
            'memcached://h:1/path',
            'memcached://[::1:1',
            'h:1',
        ):
            error = self.assertRaises(
                errors.UsageError, urls.cache_address, url
            )
            self.assertIn('memcached://HOST:PORT', str(error))


class CheckCacheTestCase(testtools.TestCase):
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
        self.assertIsNone(urls.check_cache(self.answer(b'VERSION 1.6\r\n')))

    def test_another_program_answers(self):
        error = self.assertRaises(
            errors.Error, urls.check_cache, self.answer(b'-ERR unknown\r\n')
        )
        self.assertIn('another program', str(error))

    def test_nobody_answers(self):
        port = server.free_port()
        error = self.assertRaises(
            errors.Error, urls.check_cache, f'memcached://127.0.0.1:{port}'
        )
        self.assertEqual(
            f'no memcached at 127.0.0.1:{port}: Connection refused', str(error)
        )
