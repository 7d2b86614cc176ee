# SPDX-License-Identifier: Apache-2.0

"""Nodes with keys, clients with tokens, and a clock that can be set."""

import os
import shutil
import tempfile

from cryptography import fernet
from dogpile.cache import region

from keystone.cmd.fernet_keys import status
from keystone.common.key_history import history
from keystone.common.key_history import nodes
from keystone.common.key_history import outlook
from keystone.common.key_history import repository

# After the files of the keys, whose times are real.
START = 2_000_000_000


class Node:
    def __init__(self, path):
        self.path = path
        self.expiration = 3600
        self.window = 3600
        self.looked = None


class World:
    """Nodes that issue, rotate and get keys from each other.

    :param config: of :class:`oslo_config.fixture.Config`
    :param folder: where the keys are
    :param number: of nodes
    :param max_active_keys: the option
    """

    def __init__(self, config, folder, number=1, max_active_keys=3):
        self.config = config
        self.now = START
        self.max_active_keys = max_active_keys
        self.tokens = []
        self.rotations = self.refusals = self.deletions = 0
        #: what the shared cache has
        self.cache = {}
        self.region = region.make_region().configure(
            'dogpile.cache.memory', arguments={'cache_dict': self.cache}
        )
        folder = tempfile.mkdtemp(dir=folder)
        self.nodes = [
            Node(os.path.join(folder, str(i))) for i in range(number)
        ]
        self.leader = self.nodes[0]
        os.mkdir(self.leader.path, 0o700)
        self.repository(self.leader).initialize_key_repository()
        self.distribute()
        self.report()
        self.report()

    def repository(self, node):
        self.config(
            group='fernet_tokens',
            key_repository=node.path,
            max_active_keys=self.max_active_keys,
        )
        self.config(
            group='token',
            expiration=node.expiration,
            allow_expired_window=node.window,
        )
        return repository.Repository('fernet_tokens')

    def ciphers(self, node):
        keys = self.repository(node).load_keys()
        return fernet.MultiFernet([fernet.Fernet(key) for key in keys])

    def look(self, node):
        node.looked = self.now
        return outlook.look(
            self.repository(node),
            nodes.Reports('fernet_tokens', self.region),
            lambda: self.now,
        )

    def request(self, node):
        """What happens before a request."""
        if node.looked is None or self.now >= node.looked + history.INTERVAL:
            self.look(node)

    def issue(self, node):
        self.request(node)
        self._sign(node, self.now + node.expiration)

    def rescope(self, node):
        """Get a token by an older one, as long as that one."""
        self.request(node)
        for token, expires in self.tokens[-3:]:
            if self.now < expires and self.opens(node, token):
                self._sign(node, expires)
                return

    def _sign(self, node, expires):
        token = self.ciphers(node).encrypt(b'%d' % expires)
        self.tokens.append((token, expires))

    def opens(self, node, token):
        try:
            self.ciphers(node).decrypt(token)
        except fernet.InvalidToken:
            return False
        return True

    def cut(self):
        """Whether some node refuses a token that can still be accepted."""
        window = max(node.window for node in self.nodes)
        self.tokens = [
            (token, expires)
            for token, expires in self.tokens
            if self.now < expires + window
        ]
        for node in self.nodes:
            ciphers = self.ciphers(node)
            for token, _expires in self.tokens:
                try:
                    ciphers.decrypt(token)
                except fernet.InvalidToken:
                    return True
        return False

    def wait(self, seconds):
        self.now += seconds

    def set_expiration(self, node, seconds):
        node.expiration = seconds
        # The service is restarted.
        node.looked = None

    def set_window(self, node, seconds):
        node.window = seconds
        node.looked = None

    def report(self):
        for node in self.nodes:
            self.look(node)

    def empty_cache(self):
        self.cache.clear()

    def rotate(self, node, guard):
        """Rotate, unless the guard is on and finds a reason not to."""
        if guard:
            found = self.look(node)
            if not status.assess(found)['safe']:
                self.refusals += 1
                return
        before = set(self.repository(node).read().values())
        self.repository(node).rotate_keys()
        after = set(self.repository(node).read().values())
        self.look(node)
        self.leader = node
        self.rotations += 1
        self.deletions += len(before - after)

    def turn(self, node, guard):
        """Rotate by the recipe."""
        self.report()
        self.rotate(node, guard)
        self.distribute()
        self.report()

    def distribute(self):
        """Give the keys of where they were rotated last to all."""
        for node in self.nodes:
            if node is self.leader:
                continue
            os.makedirs(node.path, 0o700, exist_ok=True)
            for name in os.listdir(node.path):
                if name.isdigit():
                    os.unlink(os.path.join(node.path, name))
            for name in os.listdir(self.leader.path):
                path = os.path.join(self.leader.path, name)
                if name.isdigit():
                    shutil.copy(path, node.path)
