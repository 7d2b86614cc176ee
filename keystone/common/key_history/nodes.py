# SPDX-License-Identifier: Apache-2.0

"""What the nodes tell each other of their keys, through the shared cache.

A node seals its report with a key that it derives from its primary key: who
can read the cache learns nothing of keys, and who can write it can claim
nothing. A node that cannot open the report of another one cannot open what
that one signs, either.
"""

import json
import re

from cryptography import fernet
from oslo_cache import core as oslo_cache

from keystone.common.cache import shared
from keystone.common.key_history import history as histories
from keystone.common.key_history import repository as repositories
import keystone.conf

CONF = keystone.conf.CONF

#: Seconds for which a report tells what a node has.
FRESH = 600

_LONGEST_LIST = 1000
_NAME = re.compile(r'[\w.:/@+-]{1,500}', re.ASCII)


class Reports:
    """The reports about the keys of one section.

    :param section: of :mod:`~keystone.common.key_history.repository`
    :param region: where they are; by default in the configured cache
    """

    def __init__(self, section, region=None):
        self._prefix = f'keystone key report {section}'
        if region is None and shared.is_shared():
            region = oslo_cache.create_region()
            oslo_cache.configure_cache_region(CONF, region)
        self._region = region

    @property
    def shared(self):
        """Whether other nodes can read and write them."""
        return self._region is not None

    def publish(self, node, keys, history, now):
        """Tell the others what this node has.

        :param node: name of this node
        :param keys: {index: bytes}
        :param history: a :class:`~keystone.common.key_history.history.History`
        :param now: the time
        :raises LookupError: the cache does not keep it
        """
        names = {i: repositories.name(key) for i, key in keys.items()}
        text = json.dumps(
            {
                'node': node,
                'at': now,
                'staged': names.get(repositories.STAGED),
                'keys': {name: history.keys[name] for name in names.values()},
                'lifetimes': history.lifetimes,
            }
        )
        cipher = repositories.sealed_by(keys[max(keys)])
        self._region.set(
            self._key(node), cipher.encrypt(text.encode()).decode()
        )
        nodes = {**self._nodes(), node: now}
        for name, at in list(nodes.items()):
            if at + histories.WAITED < now:
                del nodes[name]
                self._region.delete(self._key(name))
        # Of two nodes that write it at once, one is in it the next time.
        self._region.set(self._prefix, json.dumps(nodes))
        if not self._region.get(self._key(node), ignore_expiration=True):
            raise LookupError(node)

    def read(self, node, keys, now):
        """What the others have told.

        :param node: name of this node, whose own report is left out
        :param keys: {index: bytes}, to open them with
        :param now: the time
        :returns: {name: dict of a report, or None if it is a fresh one that
            cannot be opened}
        """
        nodes = self._nodes()
        nodes.pop(node, None)
        names = list(nodes)
        sealed = self._region.get_multi(
            [self._key(name) for name in names], ignore_expiration=True
        )
        ciphers = fernet.MultiFernet(
            [repositories.sealed_by(key) for key in keys.values()]
        )
        found = {}
        for name, text in zip(names, sealed):
            report = self._open(ciphers, name, text)
            if report is not None:
                if report['at'] + histories.WAITED > now:
                    found[name] = report
            elif text and nodes[name] + FRESH > now:
                found[name] = None
        return found

    def _nodes(self):
        """When each node has written last, as anybody can claim it."""
        text = self._region.get(self._prefix, ignore_expiration=True)
        try:
            found = json.loads(text or '{}')
            return {
                name: float(at)
                for name, at in list(found.items())[:_LONGEST_LIST]
                if _NAME.fullmatch(name)
            }
        except (AttributeError, TypeError, ValueError):
            return {}

    def _open(self, ciphers, name, text):
        try:
            report = json.loads(ciphers.decrypt(text.encode()))
        except (fernet.InvalidToken, AttributeError, ValueError):
            return None
        return report if report['node'] == name else None

    def _key(self, node):
        return f'{self._prefix} {node}'
