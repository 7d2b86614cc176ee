# SPDX-License-Identifier: Apache-2.0

"""Two Keystones with one database, for tests."""

import pathlib

import fixtures
import testtools

from patchset import client
from patchset import keystone_conf
from patchset.services import mariadb
from patchset.services import memcached
from patchset.test_parts import cloud

BOUND = 2  # seconds between two looks into the database
PASSWORD = 'of-both'
ADMIN = client.password(PASSWORD)  # how the admin signs in at both


class KeystonesTestCase(testtools.TestCase):
    """Two Keystones with one database."""

    def setUp(self):
        super().setUp()
        self.folder = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        self.database = self.enterContext(mariadb.MariaDB())

    def memcached(self):
        """Start a memcached, for as long as the test runs; its URL."""
        return self.enterContext(memcached.Memcached()).url

    def keystones(
        self, cache, options=None, processes=1, second=None, stock=(),
        threads=1,
    ):  # fmt: skip
        """Start two Keystones with one database, as root of both the admin.

        :param cache: URL, or None
        :param options: more of {section: {option: value}}
        :param processes: how many workers each of them has
        :param threads: how many threads each worker has
        :param second: options of the second one, in the place of the same
        :param stock: names of those that run the stock tree, of ``one`` and
            ``two``
        :returns: a client of each
        """
        # Both have the keys of the first.
        settings = keystone_conf.keys(self.folder / 'one')
        settings['revoke'] = {'sync_interval': BOUND}
        settings = keystone_conf.merge(settings, options)
        return [
            client.Client(
                self.enterContext(
                    cloud.keystone(
                        self.folder / name, stock=name in stock,
                        database=self.database.url('keystone'), cache=cache,
                        password=PASSWORD, processes=processes,
                        threads=threads,
                        options=keystone_conf.merge(settings, own),
                    )
                ).port
            )
            for name, own in (('one', None), ('two', second))
        ]  # fmt: skip

    def write(self, node, method, path, body=None, token=None):
        """The body of the answer to a request that succeeds.

        :param node: the client that makes it
        :param token: the caller's; by default, the admin's
        """
        answer = node.ask(method, path, token or self.caller, body)
        self.assertIn(answer.status, (200, 201, 204), (method, path, answer))
        return answer.body

    def make(self, node, kind, **values):
        """Create a user or a project in the default domain; its id."""
        body = {kind: {'domain_id': 'default', **values}}
        return self.write(node, 'POST', f'/{kind}s', body)[kind]['id']
