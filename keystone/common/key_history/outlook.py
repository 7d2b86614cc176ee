# SPDX-License-Identifier: Apache-2.0

"""Effects of a key rotation, and reasons why it would not be safe."""

import os
import time

from oslo_log import log

from keystone.common.key_history import history as histories
from keystone.common.key_history import nodes
from keystone.common.key_history import repository as repositories
import keystone.conf

CONF = keystone.conf.CONF
LOG = log.getLogger(__name__)


class Outlook:
    """Snapshot of the keys of a repository on this and other nodes.

    :param repository: a
        :class:`~keystone.common.key_history.repository.Repository`
    :param history: its :class:`~keystone.common.key_history.history.History`
    :param reports: a :class:`~keystone.common.key_history.nodes.Reports`
    :param clock: callable, returns seconds since the epoch, or None
    :raises OSError: the keys cannot be read
    :raises ValueError: there are no keys, or invalid ones
    """

    def __init__(self, repository, history, reports, clock=None):
        self.repository = repository
        self.history = history
        self.now = (clock or time.time)()
        keys = repository.read()
        if not keys:
            raise ValueError(f'no keys in {repository.key_repository}')
        self.names = {i: repositories.name(key) for i, key in keys.items()}
        history.observe(self.names, repository, self.now)
        history.prune(self.names.values(), self.now)
        #: why the state of other nodes is unknown, or None
        self.unknown = None
        self.reports = {}
        if reports.shared:
            self._exchange(reports, keys)
        else:
            self.unknown = 'no cache is shared and expected_nodes is not 1'
        if CONF.fernet_tokens.expected_nodes == 1:
            self.unknown = None

    def _exchange(self, reports, keys):
        failure = None
        try:
            self.reports = reports.read(self.repository.node, keys, self.now)
            for report in self.reports.values():
                if report:
                    self.history.merge(report, self.now)
            reports.publish(self.repository.node, keys, self.history, self.now)
        except Exception as error:
            failure = type(error).__name__
        if failure:
            # Not above, where oslo.log appends the error message, which may
            # contain credentials.
            LOG.warning('Failed to exchange key reports: %s', failure)
            self.unknown = 'the shared cache is unavailable'

    def key(self, index):
        """The status of a key.

        :returns: dict of plain values: ``until``, the latest time at which
            anything signed by the key may be valid, or None if there is no
            bound, and whether this is ``assumed``; whether a rotation now
            would have it ``removed``, and ``cut``, while it is still needed
        """
        name = self.names[index]
        until, assumed = self.history.until(name)
        path = os.path.join(self.repository.key_repository, str(index))
        role = 'secondary' if index else 'staged'
        return {
            'index': index,
            'role': 'primary' if index == max(self.names) else role,
            'name': name[:8],
            'age': max(0, self.now - os.stat(path).st_mtime),
            'last_signed': self.history.keys[name]['last'],
            'until': until,
            'assumed': assumed and bool(until),
            'removed': index in self.repository.removed(self.names),
            'cut': index in self.cut(),
        }

    def cut(self):
        """Indexes of the keys to be deleted that are still needed."""
        if not self.repository.lifetimes():
            # The credential commands check this themselves.
            return set()
        removed = self.repository.removed(self.names)
        return {i for i in removed if self._is_live(self.names[i])}

    def earliest(self):
        """Earliest time at which a rotation deletes no needed key.

        :returns: seconds since the epoch; None if waiting does not help
        """
        cut = self.cut()
        if not cut:
            return self.now
        signs = {repositories.STAGED, max(self.names)} | {
            index
            for report in self.reports.values()
            if report
            for index, name in self.names.items()
            if report['keys'].get(name, {}).get('primary')
        }
        times = [self.history.until(self.names[index])[0] for index in cut]
        return None if signs & cut or None in times else max(times)

    def others(self):
        """Compare the keys of each other node with those of this one.

        :returns: {name: dict with ``state`` (``ready``, ``silent``,
            ``unreadable``), ``missing`` and ``extra``, names of keys, and
            ``staged``, whether it has the staged key of this node}
        """
        mine = set(self.names.values())
        staged = self.names.get(repositories.STAGED)
        found = {}
        for name, report in self.reports.items():
            if report is None:
                found[name] = _other('unreadable')
                continue
            theirs = set(report['keys'])
            fresh = report['at'] + nodes.FRESH > self.now
            missing = filter(self._is_live, mine - theirs - {staged})
            extra = filter(self._is_live, theirs - mine - {report['staged']})
            state = 'ready' if fresh else 'silent'
            found[name] = _other(state, missing, extra, staged in theirs)
        for name in self.history.nodes:
            found.setdefault(name, _other('silent'))
        return found

    def _is_live(self, name):
        until, _assumed = self.history.until(name)
        return until is None or until > self.now

    def reasons(self):
        """Why a rotation would not be safe now, as phrases."""
        if repositories.STAGED not in self.names:
            yield 'key 0 is missing'
        for index in sorted(self.cut()):
            yield f'key {index} would be deleted but is still needed'
        others = self.others()
        expected = CONF.fernet_tokens.expected_nodes
        if self.unknown:
            yield f'{self.unknown}, so the keys of other nodes are unknown'
        elif 1 + len(others) < expected:
            yield f'{1 + len(others)} of {expected} nodes have reported'
        yield from self.differences()
        for name, other in sorted(others.items()):
            if other['state'] == 'silent':
                yield f'{name} has not reported its keys recently'
            elif other['state'] == 'ready' and not other['staged']:
                yield f'{name} does not have the staged key yet'

    def differences(self):
        """Where nodes reject tokens signed by others, as phrases."""
        for name, other in sorted(self.others().items()):
            if other['state'] == 'unreadable':
                yield (
                    f'{name} signs with a key that this node does not have, '
                    'so this node rejects what it signs'
                )
            for what, words in (
                ('missing', 'rejects what was signed with these keys'),
                ('extra', 'has keys that this node does not have'),
            ):
                if other[what]:
                    short = ', '.join(one[:8] for one in other[what])
                    yield f'{name} {words}: {short}'


def _other(state, missing=(), extra=(), staged=False):
    return {
        'state': state, 'staged': staged, 'missing': sorted(missing),
        'extra': sorted(extra),
    }  # fmt: skip


def look(repository, reports=None, clock=None, in_command=True):
    """Record the current keys of a repository and assess a rotation.

    :param in_command: see :func:`.history.recorded`
    :returns: an :class:`Outlook`
    :raises BlockingIOError: another process has locked the records
    :raises OSError: keys or records cannot be read or written
    :raises ValueError: there are no keys, or invalid ones
    """
    reports = reports or nodes.Reports(repository.config_group)
    with histories.recorded(repository, in_command) as history:
        return Outlook(repository, history, reports, clock)


def forget(repository, node, reports=None):
    """Stop expecting reports from a node that was removed.

    :raises OSError: the records cannot be read or written
    :raises ValueError: the report cannot be deleted; nothing is recorded
    """
    reports = reports or nodes.Reports(repository.config_group)
    with histories.recorded(repository) as history:
        history.nodes.pop(node, None)
        try:
            if reports.shared:
                reports.forget(node)
        except Exception:
            # The error message may contain credentials.
            raise ValueError(
                f'{node} is not forgotten: the shared cache is unavailable'
            ) from None
