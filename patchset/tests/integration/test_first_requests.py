# SPDX-License-Identifier: Apache-2.0

"""The first requests of a server that has just started, all at once."""

import collections
from concurrent import futures
import http.client
import os
import pathlib
import shutil
import threading

import fixtures
import testtools

from patchset import client
from patchset.services import memcached
from patchset.test_parts import cloud
from patchset.tests.integration import apache

ROUNDS = int(os.environ.get('KS_ROUNDS', 7))
TOGETHER = 32  # requests at once


class FirstRequestsTests(testtools.TestCase):
    def setUp(self):
        super().setUp()
        self.folder = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        self.keystone = cloud.keystone(
            self.folder / 'keystone', processes=2, threads=8,
            cache=self.enterContext(memcached.Memcached()).url,
        )  # fmt: skip
        self.keystone.prepare()
        self.addCleanup(self.keystone.stop)

    def count(self, port, token):
        """Validate a token by many requests at once.

        :returns: how often there was each status, or kind of error
        """
        barrier = threading.Barrier(TOGETHER)
        node = client.Client(port)

        def validate(_):
            barrier.wait()
            answer = node.about('GET', token, token)
            return answer.status or answer.body

        with futures.ThreadPoolExecutor(TOGETHER) as pool:
            return collections.Counter(pool.map(validate, range(TOGETHER)))

    def issue(self, port):
        return client.Client(port).issue(
            client.password(self.keystone.password), client.ADMIN_PROJECT
        )

    def test_uwsgi(self):
        port = self.keystone.port
        self.keystone.start()
        token = self.issue(port)
        counts = collections.Counter()
        for _ in range(ROUNDS):
            self.keystone.restart()
            counts += self.count(port, token)
        self.assertEqual({http.client.OK: ROUNDS * TOGETHER}, counts)

    def test_mod_wsgi(self):
        web = apache.Apache(self.keystone)
        self.hand_over(web.user)
        with web:
            token = self.issue(web.port)
        counts = collections.Counter()
        for _ in range(ROUNDS):
            with web:
                counts += self.count(web.port, token)
        self.assertEqual({http.client.OK: ROUNDS * TOGETHER}, counts)

    def hand_over(self, user):
        """Let the web server's user have the Keystone's files."""
        if user:
            for path in (self.folder, *self.folder.rglob('*')):
                shutil.chown(path, user)
