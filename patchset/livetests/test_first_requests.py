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

from patchset import deployment
from patchset import environment
from patchset import pins
from patchset import trees
from patchset.livetests import keystones
from patchset.services import apache
from patchset.services import memcached
from patchset.services import server

ROUNDS = int(os.environ.get('KS_ROUNDS', 7))
TOGETHER = 32  # requests at once
PASSWORD = 'of-the-admin'


class FirstRequestsTests(testtools.TestCase):
    def setUp(self):
        super().setUp()
        self.folder = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        cache = memcached.Memcached()
        cache.start()
        self.addCleanup(cache.stop)
        pin = pins.load(pins.newest())
        self.keystone = deployment.Deployment(
            trees.get(pin),
            environment.Environment(pin.release, 'run').ensure(),
            self.folder / 'keystone',
            port=server.free_port(),
            cache=cache.url,
            password=PASSWORD,
            processes=2,
            threads=8,
            options={'identity': {'password_hash_rounds': 4}},
        )
        self.keystone.prepare()
        self.addCleanup(self.keystone.stop)

    def count(self, client, token):
        """Validate a token by many requests at once.

        :returns: how often there was each status, or kind of error
        """
        barrier = threading.Barrier(TOGETHER)

        def validate(_):
            barrier.wait()
            try:
                return client.validate(token, token)
            except (http.client.HTTPException, OSError) as error:
                return type(error).__name__

        with futures.ThreadPoolExecutor(TOGETHER) as pool:
            return collections.Counter(pool.map(validate, range(TOGETHER)))

    def issue(self, client):
        domain = {'id': 'default'}
        return client.issue(
            {'project': {'name': 'admin', 'domain': domain}},
            methods=['password'],
            password={
                'user': {
                    'name': 'admin',
                    'password': PASSWORD,
                    'domain': domain,
                }
            },
        )

    def test_uwsgi(self):
        client = keystones.Client(self.keystone)
        self.keystone.start()
        token = self.issue(client)
        counts = collections.Counter()
        for _ in range(ROUNDS):
            self.keystone.restart()
            counts += self.count(client, token)
        self.assertEqual({http.client.OK: ROUNDS * TOGETHER}, counts)

    def test_mod_wsgi(self):
        web = apache.Apache(self.keystone)
        self.hand_over(web.user)
        client = keystones.Client(web)
        with web:
            token = self.issue(client)
        counts = collections.Counter()
        for _ in range(ROUNDS):
            with web:
                counts += self.count(client, token)
        self.assertEqual({http.client.OK: ROUNDS * TOGETHER}, counts)

    def hand_over(self, user):
        """Let the web server's user have the Keystone's files."""
        if user:
            for path in (self.folder, *self.folder.rglob('*')):
                shutil.chown(path, user)
