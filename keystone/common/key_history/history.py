# SPDX-License-Identifier: Apache-2.0

"""When each key has signed, as far as this node and the others know.

What is recorded only grows: of what two nodes have recorded, the later moment
and the longer time hold. What is not recorded is taken for the worst.
"""

import contextlib
import fcntl
import hashlib
import json
import os
import tempfile

from oslo_log import log

from keystone.common.key_history.repository import STAGED
import keystone.conf

CONF = keystone.conf.CONF
LOG = log.getLogger(__name__)

#: Seconds between two records of a process that works.
INTERVAL = 60

#: Seconds for which a node that does not report any more is waited for.
WAITED = 24 * 60 * 60

# Seconds that are added: for the time between two records, and for clocks.
_GRACE = 2 * INTERVAL


class History:
    """What is recorded of the keys of one repository.

    ``keys`` is {name of a key: {'seen': when it was first seen, 'last': until
    when it can have signed, or None, 'primary': whether it signs here}};
    ``lifetimes`` are [seconds, window, first, last, whether it is assumed];
    ``nodes`` is {name: {'heard': when it reported, 'until': when everything
    that it signed has expired}}. All moments are seconds since the epoch.
    """

    def __init__(self, data=None):
        data = data or {}
        self.keys = data.get('keys', {})
        self.lifetimes = data.get('lifetimes', [])
        self.nodes = data.get('nodes', {})

    def data(self):
        """The same as plain values, for JSON."""
        return {
            'keys': self.keys,
            'lifetimes': self.lifetimes,
            'nodes': self.nodes,
        }

    def observe(self, names, repository, now):
        """Record what can be seen.

        :param names: {index: name} of the keys as they are now
        :param repository: whose they are
        :param now: the time
        """
        primary = max(names)
        for key in self.keys.values():
            if key['primary']:
                # It has signed until a moment ago at most.
                key['last'], key['primary'] = now, False
        for seconds, window in repository.lifetimes():
            self._lifetime(seconds, window, now, now, False)
        for index, name in names.items():
            known = name in self.keys
            key = self.keys.setdefault(name, {'seen': now, 'last': None})
            key['primary'] = index == primary
            if not key['primary'] and (index == STAGED or key['last']):
                continue
            if not known:
                # It may have signed before anything was recorded.
                for seconds, window in repository.longest_lifetimes():
                    self._lifetime(seconds, window, 0, now, True)
            key['last'] = now

    def merge(self, report, now):
        """Record what another node has recorded.

        :param report: dict of :mod:`keystone.common.key_history.nodes`
        :param now: the time
        """
        waited = report['at'] + WAITED
        for name, key in report['keys'].items():
            mine = self.keys.setdefault(name, {**key, 'primary': False})
            mine['seen'] = min(mine['seen'], key['seen'])
            # A node that is silent may sign nevertheless.
            last = min(now, waited) if key['primary'] else key['last']
            if last is not None:
                mine['last'] = max(last, mine['last'] or 0)
        for record in report['lifetimes']:
            self._lifetime(*record)
        until = [self.until(name)[0] or 0 for name in report['keys']]
        self.nodes[report['node']] = {
            'heard': report['at'],
            'until': max(waited, *until),
        }

    def until(self, name):
        """Until when something that a key has signed can be accepted.

        :returns: seconds since the epoch, or None if it is not known; and
            whether a time of before the records is assumed for it
        """
        key = self.keys.get(name)
        if key is None:
            return None, True
        if key['last'] is None:
            return 0, False
        window = self._window()
        # A token that is got by an older one expires with that.
        return max(
            (
                (min(key['last'], last) + _GRACE + seconds + window, assumed)
                for seconds, _window, first, last, assumed in self.lifetimes
                if first <= key['last']
            ),
            default=(None, True),
            key=lambda found: (found[0], not found[1]),
        )

    def prune(self, names, now):
        """Forget what cannot matter any more."""
        self.keys = {
            name: key
            for name, key in self.keys.items()
            if name in names or (self.until(name)[0] or now + 1) > now
        }
        window = self._window()
        self.lifetimes = [
            one
            for one in self.lifetimes
            if one[3] + _GRACE + one[0] + window > now
        ]
        self.nodes = {
            name: node
            for name, node in self.nodes.items()
            if node['until'] > now
        }

    def _window(self):
        return max((one[1] for one in self.lifetimes), default=0)

    def _lifetime(self, seconds, window, first, last, assumed):
        for one in self.lifetimes:
            if one[:2] + one[4:] == [seconds, window, assumed]:
                one[2:4] = min(one[2], first), max(one[3], last)
                return
        self.lifetimes.append([seconds, window, first, last, assumed])


@contextlib.contextmanager
def recorded(repository):
    """Read the history of a repository, and write it when done.

    No other process changes it meanwhile. What cannot be understood is left
    out, and so taken for the worst.

    :param repository: a
        :class:`~keystone.common.key_history.repository.Repository`
    :returns: a :class:`History`
    :raises OSError: it cannot be read or written
    """
    folder = CONF.fernet_tokens.key_history or os.path.join(
        repository.key_repository, '.history'
    )
    owner = os.stat(repository.key_repository)
    if not os.path.isdir(folder):
        os.makedirs(folder, 0o700, exist_ok=True)
        _give(folder, owner)
    # Two repositories may share the folder, and keys may be distributed with
    # the folder in them.
    own = hashlib.sha256(repository.node.encode()).hexdigest()[:16]
    path = os.path.join(folder, f'{own}.json')
    lock = os.open(f'{path}.lock', os.O_RDWR | os.O_CREAT, 0o600)
    try:
        _give(f'{path}.lock', owner)
        fcntl.flock(lock, fcntl.LOCK_EX)
        history = _read(path)
        yield history
        _write(path, history.data(), owner)
    finally:
        os.close(lock)


def _read(path):
    try:
        with open(path) as file:
            return History(json.load(file))
    except FileNotFoundError:
        return History()
    except (ValueError, AttributeError, TypeError):
        LOG.warning('The history of Fernet keys in %s is damaged.', path)
        return History()


def _write(path, data, owner):
    with tempfile.NamedTemporaryFile(
        'w', dir=os.path.dirname(path), delete=False
    ) as file:
        try:
            json.dump(data, file)
            file.flush()
            _give(file.name, owner)
            os.rename(file.name, path)
        except BaseException:
            os.unlink(file.name)
            raise


def _give(path, owner):
    # Commands run as root, and the service must read and write it as well.
    if os.geteuid() == 0:
        os.chown(path, owner.st_uid, owner.st_gid)
