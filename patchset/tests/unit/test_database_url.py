# SPDX-License-Identifier: Apache-2.0

"""Tests of database URLs."""

import pathlib

import testtools

from patchset import database_url
from patchset import errors


class NormaliseTestCase(testtools.TestCase):
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
                database_url.normalise(
                    f'{scheme}://u:p%40@h:1/k?charset=utf8mb4'
                ),
            )

    def test_sqlite_path_becomes_absolute(self):
        here = pathlib.Path.cwd()
        for url, expected in (
            ('sqlite:////var/k.db', 'sqlite:////var/k.db'),
            ('sqlite:///k.db', f'sqlite:///{here}/k.db'),
            ('sqlite:///k.db?timeout=3', f'sqlite:///{here}/k.db?timeout=3'),
        ):
            self.assertEqual(expected, database_url.normalise(url))

    def test_sqlite_in_memory_is_refused(self):
        for url in ('sqlite://', 'sqlite:///', 'sqlite:///:memory:'):
            error = self.assertRaises(
                errors.UsageError, database_url.normalise, url
            )
            self.assertIn('needs a file', str(error))

    def test_unknown_dialect_is_named_and_the_password_is_not(self):
        for url, name in (
            ('oracle://u:sesame@h/k', "'oracle'"),
            ('u:sesame@h/k', "''"),
        ):
            error = self.assertRaises(
                errors.UsageError, database_url.normalise, url
            )
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
            self.assertEqual(expected, database_url.redacted(url))

    def test_passwords_in_both_spellings(self):
        self.assertEqual(
            ['p%40w', 'p@w'], database_url.passwords('mysql://u:p%40w@h/k')
        )
        self.assertEqual([], database_url.passwords('mysql://u@h/k'))
        self.assertEqual([], database_url.passwords('sqlite:////k.db'))
