# SPDX-License-Identifier: Apache-2.0

"""Exchange of key reports between nodes, through the shared cache.

A node encrypts its report with a key derived from its primary key, so that
access to the cache neither reveals keys nor allows reports to be forged. A
node that cannot decrypt the report of another node cannot validate the tokens
of that node either.

Whoever can write to the cache can still replay or delete reports, and list
nodes that do not exist. Safe rotations are refused meanwhile; but a node that
was never seen is only missed if the number of nodes is configured.
"""

import functools
import json
import math
import re

from cryptography import fernet
from oslo_cache import core as oslo_cache

from keystone.common.cache import shared
from keystone.common.key_history import history as histories
from keystone.common.key_history import repository as repositories
import keystone.conf

CONF = keystone.conf.CONF

#: Seconds for which a report is considered current.
FRESH = 600

_LONGEST_LIST = 1000
_NAME = re.compile(r'[\w.:/@+-]{1,500}', re.ASCII)


class Reports:
    """Reports about the keys of one section.

    :param section: of :mod:`~keystone.common.key_history.repository`
    :param region: cache region; by default the configured cache
    """

    def __init__(self, section, region=None):
        self._prefix = f'keystone key report {section}'
        #: Whether other nodes can read and write the reports.
        self.shared = region is not None or shared.is_shared()
        if region is not None:
            self._region = region

    @functools.cached_property
    def _region(self):
        # When it is used, since it may be impossible with these settings.
        region = oslo_cache.create_region()
        return oslo_cache.configure_cache_region(CONF, region)

    def publish(self, node, keys, history, now):
        """Publish the report of this node.

        :param node: name of this node
        :param keys: {index: bytes}
        :param history: a :class:`~keystone.common.key_history.history.History`
        :param now: the current time
        :raises LookupError: the cache does not store the report
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
        nodes = {**self._nodes(now), node: now}
        for name, at in list(nodes.items()):
            if at + histories.WAITED < now:
                del nodes[name]
                self._region.delete(self._key(name))
        # A node lost in a concurrent write is added with its next report.
        self._region.set(self._prefix, json.dumps(nodes))
        if not self._region.get(self._key(node), ignore_expiration=True):
            raise LookupError(node)

    def forget(self, node):
        """Delete the report of a node.

        :raises LookupError: the cache does not do so
        """
        nodes = self._nodes()
        nodes.pop(node, None)
        self._region.set(self._prefix, json.dumps(nodes))
        self._region.delete(self._key(node))
        # Without the list, the cache is unavailable and not empty.
        keys = [self._prefix, self._key(node)]
        listed, report = self._region.get_multi(keys, ignore_expiration=True)
        if report or not listed:
            raise LookupError(node)

    def read(self, node, keys, now):
        """Read the reports of the other nodes.

        :param node: name of this node, whose own report is excluded
        :param keys: {index: bytes}, used to decrypt the reports
        :param now: the current time
        :returns: {name: dict of a report, or None if the report is current
            but cannot be decrypted}
        """
        nodes = self._nodes(now)
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

    def _nodes(self, now=math.inf):
        """When each node last reported; this is not authenticated."""
        text = self._region.get(self._prefix, ignore_expiration=True)
        try:
            found = json.loads(text or '{}')
            return {
                name: float(at)
                for name, at in list(found.items())[:_LONGEST_LIST]
                # Others would never be outdated.
                if _NAME.fullmatch(name) and float(at) <= now + FRESH
            }
        except (ArithmeticError, AttributeError, RecursionError, TypeError,
                ValueError):  # fmt: skip
            return {}

    def _open(self, ciphers, name, text):
        try:
            report = json.loads(ciphers.decrypt(text.encode()))
        except (fernet.InvalidToken, AttributeError, ValueError):
            return None
        return report if report['node'] == name else None

    def _key(self, node):
        return f'{self._prefix} {node}'
