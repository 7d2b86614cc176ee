# SPDX-License-Identifier: Apache-2.0

"""Tests of a Keystone on MariaDB and memcached, in several processes."""

import concurrent.futures
import pathlib
import tempfile

import testtools

from patchset import client
from patchset import errors
from patchset.services import mariadb
from patchset.services import memcached
from patchset.test_parts import cloud
from patchset.tests.functional import test_deployment


class ServicesTestCase(testtools.TestCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.database = cls.enterClassContext(mariadb.MariaDB())
        cls.cache = cls.enterClassContext(memcached.Memcached())
        cls.folder = pathlib.Path(
            cls.enterClassContext(tempfile.TemporaryDirectory())
        )

    def make(self, name, url):
        keystone = cloud.keystone(
            self.folder / name, database=url, cache=self.cache.url, processes=2
        )
        self.addCleanup(keystone.stop)
        return keystone

    def failure(self, url):
        keystone = self.make('failing', url)
        return str(self.assertRaises(errors.Error, keystone.prepare))

    def test_tokens_in_two_processes(self):
        url = self.database.url('keystone').replace('mysql+pymysql', 'mysql')
        with self.make('serving', url) as keystone:
            node = client.Client(keystone.port)
            admin = client.password(keystone.password)
            with concurrent.futures.ThreadPoolExecutor(8) as pool:
                lives = list(
                    pool.map(test_deployment.life, [node] * 24, [admin] * 24)
                )
            log = keystone.log.read_text()
        self.assertEqual([test_deployment.LIFE] * 24, lives)
        self.assertEqual(2, log.count('ready in '))
        self.assertNotEqual('0', self.cache.stats()['get_hits'])

    def test_wrong_password(self):
        url = self.database.url('keystone')
        account, _, where = url.rpartition('@')
        secret = account.rpartition(':')[2]
        message = self.failure(url.replace(secret, 'sesame'))
        self.assertIn(f'{where}: Access denied for user', message)
        self.assertNotIn('sesame', message)

    def test_missing_database(self):
        url = f'{self.database.admin_url}missing'
        self.assertIn("Unknown database 'missing'", self.failure(url))
