# SPDX-License-Identifier: Apache-2.0

"""History of when each key was used to sign, merged across nodes.

Where the records of two nodes differ, the later time and the longer lifetime
are kept. Where nothing is recorded, the worst case is assumed.
"""

import contextlib
import fcntl
import hashlib
import json
import os

from oslo_log import log

from keystone.common.key_history.repository import STAGED
from keystone.common import replaced_file
import keystone.conf

CONF = keystone.conf.CONF
LOG = log.getLogger(__name__)

#: Seconds between two records of an active process.
INTERVAL = 60

#: Seconds for which a node that stopped reporting is still expected.
WAITED = 24 * 60 * 60

# Safety margin in seconds, for the recording interval and clock skew.
_GRACE = 2 * INTERVAL


class History:
    """Records of the keys of one repository.

    ``keys`` is {name of a key: {'seen': when it was first seen, 'last': until
    when it may have signed, or None, 'primary': whether it signs here}};
    ``lifetimes`` are [seconds, window, first, last, whether it is assumed];
    ``nodes`` is {name: {'until': when everything that it signed has expired}}.
    All times are seconds since the epoch.

    :param data: dict with these attributes, or None
    :raises ValueError: it is anything else
    """

    def __init__(self, data=None):
        data = data or {}
        try:
            self.keys = {
                name: {
                    'seen': float(key['seen']),
                    'last': key['last'] and float(key['last']),
                    'primary': bool(key['primary']),
                }
                for name, key in data.get('keys', {}).items()
            }
            self.lifetimes = [
                [*map(float, (seconds, window, first, last)), bool(assumed)]
                for seconds, window, first, last, assumed in data.get(
                    'lifetimes', []
                )
            ]
            self.nodes = {
                name: {'until': float(node['until'])}
                for name, node in data.get('nodes', {}).items()
            }
        except (AttributeError, LookupError, TypeError) as error:
            raise ValueError(f'not a history: {error}') from None

    def observe(self, names, repository, now):
        """Record the current keys.

        :param names: {index: name} of the current keys
        :param repository: the repository of the keys
        :param now: the current time
        """
        primary = max(names)
        for key in self.keys.values():
            if key['primary']:
                # It may have signed until now.
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
                longest = CONF.revoke.longest_token_lifetime
                for seconds, window in repository.lifetimes(longest):
                    self._lifetime(seconds, window, 0, now, True)
            key['last'] = now

    def merge(self, report, now):
        """Merge the records of another node.

        :param report: dict of :mod:`keystone.common.key_history.nodes`
        :param now: the current time
        """
        waited = report['at'] + WAITED
        for name, key in report['keys'].items():
            mine = self.keys.setdefault(name, {**key, 'primary': False})
            mine['seen'] = min(mine['seen'], key['seen'])
            # A node that does not report may still sign.
            last = min(now, waited) if key['primary'] else key['last']
            if last is not None:
                mine['last'] = max(last, mine['last'] or 0)
        for record in report['lifetimes']:
            self._lifetime(*record)
        until = [self.until(name)[0] or 0 for name in report['keys']]
        self.nodes[report['node']] = {'until': max(waited, *until)}

    def until(self, name):
        """Latest time at which anything signed by a key may be valid.

        :returns: seconds since the epoch, or None if unknown; and whether
            this assumes use of the key before recording started
        """
        key = self.keys.get(name)
        if key is None:
            return None, True
        if key['last'] is None:
            return 0, False
        window = self._window()
        # A rescoped token expires with the original one.
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
        """Remove records that are no longer relevant."""
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
def recorded(repository, in_command=True):
    """Read the history of a repository, and write it back on exit.

    The file is locked meanwhile. A damaged file is treated as empty, so that
    the worst case is assumed.

    :param repository: a
        :class:`~keystone.common.key_history.repository.Repository`
    :param in_command: False in the service: it does not wait while the file
        is locked, nor act as the owner, which would affect all its threads
    :returns: a :class:`History`
    :raises BlockingIOError: it is locked
    :raises OSError: the history cannot be read or written
    """
    folder, owner = _place(repository)
    if not in_command and os.geteuid() == 0 and owner.st_uid != 0:
        raise OSError('the service runs as root, which does not own the keys')
    # Repositories may share the directory, and the directory may be
    # distributed to other nodes together with the keys.
    own = hashlib.sha256(repository.node.encode()).hexdigest()[:16]
    path = os.path.join(folder, f'{own}.json')
    with _acting_as(owner):
        os.makedirs(folder, 0o700, exist_ok=True)
        lock = os.open(
            f'{path}.lock', os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600
        )
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | (0 if in_command else fcntl.LOCK_NB))
        with _acting_as(owner):
            history = _read(path)
        yield history
        with _acting_as(owner):
            replaced_file.replace(path, json.dumps(vars(history)), 0o600)
    finally:
        os.close(lock)


def _place(repository):
    """Folder of the history, and the status of what tells its owner."""
    own_folder = os.path.join(repository.key_repository, '.history')
    folder = CONF.fernet_tokens.key_history or own_folder
    owner = os.stat(repository.key_repository)
    if owner.st_uid == 0 and os.path.lexists(folder):
        # The service may only be allowed to read its keys.
        owner = os.lstat(folder)
    if folder != own_folder and not os.path.isdir(folder):
        # The owner may not be allowed to create it.
        os.makedirs(folder, 0o700, exist_ok=True)
        if os.geteuid() == 0:
            os.chown(folder, owner.st_uid, owner.st_gid, follow_symlinks=False)
    return folder, owner


@contextlib.contextmanager
def _acting_as(owner):
    """Access files with no other rights than their owner has.

    Commands may run as root, in a directory where the service can replace
    files by links to others.

    :param owner: result of :func:`os.stat`
    """
    if os.geteuid() != 0 or owner.st_uid == 0:
        yield
        return
    group, groups = os.getegid(), os.getgroups()
    try:
        os.setgroups([])
        os.setegid(owner.st_gid)
        os.seteuid(owner.st_uid)
        yield
    finally:
        os.seteuid(0)
        os.setegid(group)
        os.setgroups(groups)


def _read(path):
    try:
        with open(path) as file:
            return History(json.load(file))
    except FileNotFoundError:
        return History()
    except ValueError:
        LOG.warning('Ignoring damaged Fernet key history: %s', path)
        return History()
