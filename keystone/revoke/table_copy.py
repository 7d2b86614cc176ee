# Licensed under the Apache License, Version 2.0 (the "License"); you may
# not use this file except in compliance with the License. You may obtain
# a copy of the License at
#
#      http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the
# License for the specific language governing permissions and limitations
# under the License.

"""A copy of the table of revocation events in memory."""

import collections
import datetime
import heapq
import time

from oslo_log import log
from oslo_utils import timeutils

import keystone.conf
from keystone.revoke.backends import base
from keystone.revoke import tree

CONF = keystone.conf.CONF
LOG = log.getLogger(__name__)

_EPOCH = datetime.datetime(1970, 1, 1)
_MINUTE = datetime.timedelta(minutes=1)
_SECOND = datetime.timedelta(seconds=1)

# Rows of the overlap that the database is told to leave out. Above this, the
# list itself would cost more than reading some rows twice.
_MOST_KNOWN = 5000

# Rows between two lines of the log while the table is loaded.
_PROGRESS = 100_000


class TableCopy:
    """The live rows of the table, as a tree.

    One thread at a time may call :meth:`load` and :meth:`sync`; any number of
    threads may check tokens with :attr:`tree` meanwhile.

    Rows are found by ``revoked_at``, never by ``id > last``: ids are given
    before the commit, in steps that differ between the nodes of a cluster,
    and some databases give them again. Each sync starts at the newest row
    less ``[revoke] sync_overlap``, for rows whose commit, replication or
    clock was late.

    :param driver: an
        :class:`~keystone.revoke.backends.incremental.IncrementalRead`
    """

    def __init__(self, driver):
        self._driver = driver
        #: a :class:`~keystone.revoke.tree.RevocationTree`
        self.tree = tree.RevocationTree()
        # {id: revoked_at} of each row seen that was revoked at _since or
        # later, where the next sync starts.
        self._recent = {}
        self._since = _EPOCH
        self._newest = _EPOCH
        # {minute: number of rows revoked in it}
        self._rows = collections.Counter()

    def __len__(self):
        """The number of rows, each counted that has the same attributes."""
        return sum(self._rows.copy().values())

    def load(self):
        """Read the whole table.

        :returns: True if the read was causal
        """
        began = time.monotonic()
        progress = _PROGRESS

        def take(rows):
            nonlocal progress
            self._take(rows)
            self._settle()
            if len(self) >= progress:
                LOG.info('Loaded %d revocation events so far.', len(self))
                progress += _PROGRESS

        since = base.revoked_before_cutoff_time().replace(microsecond=0)
        self._since = max(since, _EPOCH)
        causal = self._driver.read_events(since, take)
        LOG.info(
            'Loaded %(rows)d revocation events, %(distinct)d of them '
            'distinct, in %(seconds).1f seconds.',
            {
                'rows': len(self),
                'distinct': len(self.tree),
                'seconds': time.monotonic() - began,
            },
        )
        return causal

    def sync(self, row=None):
        """Take in the rows that are new, and forget those that expired.

        :param row: a :class:`~keystone.revoke.stamp.Row` to look for, also
            if another row with its id was seen
        :returns: True if the read was causal
        """
        known = self._recent.keys()
        if row is not None and row.id in known and not self.has(row):
            known = known - {row.id}
        if len(known) > _MOST_KNOWN:
            known = heapq.nlargest(_MOST_KNOWN, known)
        causal = self._driver.read_events(
            self._since, self._take, known, self._newest
        )
        self._settle()
        self._expire()
        return causal

    def has(self, row):
        """Tell whether a row was seen, or is older than what a sync reads.

        :param row: a :class:`~keystone.revoke.stamp.Row`
        """
        if row.revoked_at < self._since:
            return True
        revoked_at = self._recent.get(row.id)
        # Some databases round a fraction to the next second.
        return (
            revoked_at is not None
            and abs(revoked_at - row.revoked_at) <= _SECOND
        )

    def settled(self):
        """Tell how many rows the table must have in a span of time.

        The span leaves out what is being written and what is being pruned.

        :returns: first moment of the span, first moment after it (naive UTC
            datetimes), number of rows
        """
        since = base.revoked_before_cutoff_time() + _overlap() + _MINUTE
        first, last = _minute(since), _minute(self._since)
        count = sum(
            rows
            for minute, rows in self._rows.items()
            if first <= minute < last
        )
        return _EPOCH + first * _MINUTE, _EPOCH + last * _MINUTE, count

    def _take(self, rows):
        add = self.tree.add
        recent = self._recent
        count = self._rows
        for row in rows:
            row_id, revoked_at = row.id, row.revoked_at
            if recent.get(row_id) == revoked_at:
                continue
            add(row)
            recent[row_id] = revoked_at
            count[_minute(revoked_at)] += 1
            if revoked_at > self._newest:
                self._newest = revoked_at

    def _settle(self):
        """Move the start of the next sync on."""
        # A row from a clock that is far ahead must not hide later ones.
        newest = min(self._newest, timeutils.utcnow().replace(microsecond=0))
        since = newest - _overlap()
        if since <= self._since:
            return
        self._since = since
        for row_id, revoked_at in list(self._recent.items()):
            if revoked_at < since:
                del self._recent[row_id]

    def _expire(self):
        cutoff = base.revoked_before_cutoff_time()
        self.tree.expire(cutoff)
        oldest = _minute(cutoff)
        for minute in [minute for minute in self._rows if minute < oldest]:
            del self._rows[minute]


def _overlap():
    return datetime.timedelta(seconds=CONF.revoke.sync_overlap)


def _minute(moment):
    return (moment - _EPOCH) // _MINUTE
