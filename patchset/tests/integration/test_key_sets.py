# SPDX-License-Identifier: Apache-2.0

"""Two Keystones whose Fernet keys differ, as after a failed distribution."""

import http.client
import shutil
import subprocess

from patchset import child
from patchset import client
from patchset.test_parts import cloud
from patchset.tests.integration import keystones

_LOOKS = 90  # seconds until a server has looked at the keys again
_UNKNOWN = 'signs with a key that this node does not have'


class KeySetTests(keystones.KeystonesTestCase):
    """Both are told, and a rotation that would cut tokens is refused."""

    def setUp(self):
        super().setUp()
        cache = self.memcached()
        # Unlike those of other tests, each has keys of its own.
        self.one, self.two = (
            self.enterContext(
                cloud.keystone(
                    self.folder / name, database=self.database.url('keystone'),
                    cache=cache, password=keystones.PASSWORD, processes=1,
                )
            )
            for name in ('one', 'two')
        )  # fmt: skip
        self.distribute()

    def distribute(self):
        """Give the second node the keys of the first."""
        for name in ('fernet-keys', 'credential-keys'):
            one, two = (
                node.state.path / name for node in (self.one, self.two)
            )
            for path in two.glob('[0-9]*'):
                path.unlink()
            for path in one.glob('[0-9]*'):
                shutil.copy2(path, two)

    def manage(self, node, *words):
        """Run keystone-manage: its exit code, and what it printed."""
        process = node.manage(
            words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )
        output = process.communicate()[0]
        return process.returncode, output

    def rotate(self, option):
        """Rotate the keys of the first node only: the exit code."""
        return self.manage(
            self.one, 'fernet_rotate', option,
            '--keystone-user=root', '--keystone-group=root',
        )[0]  # fmt: skip

    def status(self, node):
        """What ``fernet_status`` says at a node; see :meth:`manage`."""
        return self.manage(node, 'fernet_status')

    def assertFine(self):
        self.status(self.one)  # reports the keys
        for node in (self.two, self.one):
            code, output = self.status(node)
            self.assertEqual(0, code, output)

    def token(self, node):
        return client.Client(node.port).issue(
            keystones.ADMIN, client.ADMIN_PROJECT
        )

    def accepts(self, token):
        """Whether the second node accepts a token."""
        status = client.Client(self.two.port).validate(
            self.token(self.two), token
        )
        self.assertIn(status, (http.client.OK, http.client.NOT_FOUND))
        return status == http.client.OK

    def log(self, node):
        """The log of a server, after a request."""
        client.Client(node.port).ask('GET', '')
        return (node.state.path / 'server.log').read_text()

    def test_rotated_on_one_node_only(self):
        self.assertTrue(self.accepts(self.token(self.one)))
        self.assertFine()

        # The second node has the key that signs now, but not the staged one.
        self.assertEqual(0, self.rotate('--safe'))
        self.assertTrue(self.accepts(self.token(self.one)))
        self.assertNotEqual(0, self.rotate('--safe'))
        self.assertNotIn(_UNKNOWN, self.log(self.two))

        self.assertEqual(0, self.rotate('--no-safe'))
        token = self.token(self.one)
        self.assertFalse(self.accepts(token))
        self.status(self.one)
        code, output = self.status(self.two)
        self.assertEqual(2, code, output)
        self.assertIn(_UNKNOWN, output)
        child.wait_until(
            lambda: _UNKNOWN in self.log(self.two),
            _LOOKS,
            lambda: AssertionError(self.log(self.two)),
        )

        self.distribute()
        self.assertTrue(self.accepts(token))
        self.assertFine()
