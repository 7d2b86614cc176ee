# SPDX-License-Identifier: Apache-2.0

"""What a rotation would do, and what stands in its way."""

import time

from oslo_log import log

from keystone.common.key_history import history as histories
from keystone.common.key_history import nodes
from keystone.common.key_history import repository as repositories
import keystone.conf

CONF = keystone.conf.CONF
LOG = log.getLogger(__name__)


class Outlook:
    """The keys of a repository, of this node and the others, at a moment.

    :param repository: a
        :class:`~keystone.common.key_history.repository.Repository`
    :param history: its :class:`~keystone.common.key_history.history.History`
    :param reports: a :class:`~keystone.common.key_history.nodes.Reports`
    :param clock: callable, returns seconds since the epoch, or None
    :raises OSError: the keys cannot be read
    :raises ValueError: there are none
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
        #: why the others are not known, or None
        self.unknown = None
        self.reports = {}
        if reports.shared:
            self._exchange(reports, keys)
        else:
            self.unknown = 'no cache is shared with other nodes'
        if CONF.fernet_tokens.expected_nodes == 1:
            self.unknown = None

    def _exchange(self, reports, keys):
        try:
            self.reports = reports.read(self.repository.node, keys, self.now)
            for report in self.reports.values():
                if report:
                    self.history.merge(report, self.now)
            reports.publish(self.repository.node, keys, self.history, self.now)
        except Exception as error:
            # Its text can name accounts.
            LOG.warning('Nodes cannot be asked: %s', type(error).__name__)
            self.unknown = 'the shared cache cannot be used'

    def role(self, index):
        """What a key is for: ``staged``, ``primary`` or ``secondary``."""
        if index == max(self.names):
            return 'primary'
        return 'secondary' if index else 'staged'

    def until(self, index):
        """Until when what a key has signed can be accepted.

        :returns: seconds since the epoch, or None if there is no bound; and
            whether that is in part assumed
        """
        return self.history.until(self.names[index])

    def removed(self):
        """Indexes of the keys that a rotation now would delete."""
        removed = self.repository.removed(self.names)
        if max(self.names) + 1 in removed:
            removed = (removed - {max(self.names) + 1}) | {repositories.STAGED}
        return removed

    def cut(self):
        """Indexes of the keys whose deletion now would cut what is live."""
        if not self.repository.lifetimes():
            # Commands of credentials see to that.
            return set()
        return {
            index
            for index in self.removed()
            if self.until(index)[0] is None or self.until(index)[0] > self.now
        }

    def earliest(self):
        """When a rotation would cut nothing.

        :returns: seconds since the epoch; None if waiting does not help
        """
        if not self.cut():
            return self.now
        signs = {repositories.STAGED, max(self.names)} | {
            index
            for report in self.reports.values()
            if report
            for index, name in self.names.items()
            if report['keys'].get(name, {}).get('primary')
        }
        times = [self.until(index)[0] for index in self.cut()]
        return None if signs & self.cut() or None in times else max(times)

    def others(self):
        """What each of the others lacks.

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
            found[name] = _other(
                'ready' if fresh else 'silent',
                filter(self._is_live, mine - theirs - {staged}),
                filter(self._is_live, theirs - mine - {report['staged']}),
                staged in theirs,
            )
        for name in self.history.nodes:
            found.setdefault(name, _other('silent'))
        return found

    def _is_live(self, name):
        until, _assumed = self.history.until(name)
        return until is None or until > self.now

    def reasons(self):
        """Why a rotation now would not be safe, in sentences."""
        for index in sorted(self.cut()):
            yield (
                f'key {index} would be deleted, and what it signed can be '
                'accepted'
            )
        others = self.others()
        expected = CONF.fernet_tokens.expected_nodes
        if self.unknown:
            yield f'{self.unknown}, so what other nodes have is not known'
        elif 1 + len(others) < expected:
            yield f'{1 + len(others)} of {expected} nodes have reported'
        yield from self.differences()
        for name, other in sorted(others.items()):
            if other['state'] == 'silent':
                yield f'{name} has not reported its keys of late'
            elif other['state'] == 'ready' and not other['staged']:
                yield f'{name} does not have the staged key yet'

    def differences(self):
        """Where nodes refuse what others have signed, in sentences."""
        for name, other in sorted(self.others().items()):
            if other['state'] == 'unreadable':
                yield (
                    f'{name} signs with a key that this node does not have, '
                    'so what it signs is refused here'
                )
            for what, words in (
                ('missing', 'refuses what these keys signed'),
                ('extra', 'has keys whose signatures are refused here'),
            ):
                if other[what]:
                    short = ', '.join(one[:8] for one in other[what])
                    yield f'{name} {words}: {short}'


def _other(state, missing=(), extra=(), staged=False):
    return {
        'state': state,
        'missing': sorted(missing),
        'extra': sorted(extra),
        'staged': staged,
    }


def look(repository, reports=None, clock=None):
    """Record what can be seen of a repository, and tell what follows.

    :returns: an :class:`Outlook`
    :raises OSError: keys or records cannot be read or written
    :raises ValueError: there are no keys
    """
    if reports is None:
        reports = nodes.Reports(repository.config_group)
    with histories.recorded(repository) as history:
        return Outlook(repository, history, reports, clock)
