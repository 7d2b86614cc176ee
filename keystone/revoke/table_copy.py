# SPDX-License-Identifier: Apache-2.0

"""In-memory copy of the revocation event table."""

import collections
import datetime
import operator
import time

from oslo_log import log
from oslo_utils import timeutils

from keystone.common import counters
import keystone.conf
from keystone.models import revoke_model
from keystone.revoke.backends import base
from keystone.revoke import seen_ids
from keystone.revoke import tree

CONF = keystone.conf.CONF
LOG = log.getLogger(__name__)

#: Name in the counters.
CACHE = 'revocation events'

#: Later than all events.
FOREVER = datetime.datetime(9999, 12, 31)

_EPOCH = datetime.datetime(1970, 1, 1)
_MINUTE = datetime.timedelta(minutes=1)

# Seconds by which the wall clock may differ from the monotonic one before the
# table is loaded again.
_STEP = 60

# Maximum clock skew between Keystone hosts.
_SKEW = datetime.timedelta(hours=1)

# How far back to look for events that were committed late.
_RECENT = 2 * _SKEW

# By how much the clock of a host that deletes rows is usually ahead, at most.
_DIFFERENCE = 2 * _MINUTE

_values_of = operator.attrgetter('id', *revoke_model.REVOKE_KEYS)


class TableCopy:
    """The live rows of the table, as a tree.

    One thread at a time may call the methods; any number of threads may check
    tokens with :attr:`tree` concurrently.

    Rows are found by their ids, independently of clocks: see
    :class:`~keystone.revoke.seen_ids.SeenIds`. Each read includes the newest
    known row: if it has changed, the table was emptied or restored, and is
    loaded again. Deleted rows stay in the tree.

    :param driver: an
        :class:`~keystone.revoke.backends.incremental.IncrementalRead`
    :param clock: callable, returns monotonic seconds
    """

    def __init__(self, driver, clock=time.monotonic):
        self._driver = driver
        self._clock = clock
        #: a :class:`~keystone.revoke.tree.RevocationTree`
        self.tree = tree.RevocationTree()
        self._seen = seen_ids.SeenIds(clock)
        # The values of the row with the highest id.
        self._newest = None
        # {a whole minute: number of rows recorded in it}
        self._rows = collections.Counter()
        self._has_deleted = False
        self._ahead = self._ahead_now()
        #: when late rows were last looked for, and all rows counted
        self.looked_at = self.counted_at = clock()

    def __len__(self):
        """The number of rows, including those with equal attributes."""
        return self._rows.total()

    @property
    def is_outdated(self):
        """Whether the wall clock was changed.

        Events may then have been dropped according to a wrong time, so that
        the table must be loaded into a new copy.
        """
        return abs(self._ahead_now() - self._ahead) > _STEP

    def load(self):
        """Read the whole table."""
        LOG.info('Loading revocation events into memory.')
        began = time.monotonic()
        ids, count, newest = [], collections.Counter(), None
        # No row can appear below it, even with the slowest clock.
        floor = self._driver.id_before(timeutils.utcnow() - _SKEW - _overlap())
        for rows in self._driver.read_events(oldest()):
            for row in rows:
                self.tree.add(row)
                count[_minute(row.revoked_at)] += 1
                if row.id > floor:
                    ids.append(row.id)
                if newest is None or row.id > newest.id:
                    newest = row
        self._rows = count
        self._seen.reset(floor, ids)
        self._newest = self._newest_of(newest, floor)
        counters.count(CACHE, 'load')
        counters.count(CACHE, 'rows', len(self))
        LOG.info(
            'Loaded %(rows)d revocation events, %(distinct)d of them '
            'distinct, in %(seconds).1f seconds.',
            {
                'rows': len(self),
                'distinct': len(self.tree),
                'seconds': time.monotonic() - began,
            },
        )

    def has(self, row):
        """Whether a row is known to be in the tree, or has expired.

        :param row: a :class:`~keystone.revoke.stamp.Row`, or None
        """
        return row is None or row.id in self._seen or row.revoked_at < oldest()

    def sync(self, row=None, late=False):
        """Add new rows, and remove expired ones.

        :param row: a :class:`~keystone.revoke.stamp.Row` to look for
        :param late: whether to look for rows committed late, too
        :returns: False if that row was not found, and may exist on another
            database server
        """
        if not late:
            return self._read_news(row)
        since = self._recent()
        theirs = self._driver.count_events(since, FOREVER)
        is_found = self._read_news(row)
        if self._count(since) < theirs:
            self._read_again(since)
        return is_found

    def settled(self):
        """The number of rows that the table must have in a time span.

        The span excludes rows that may still be written or pruned.

        :returns: start and end of the span (naive UTC datetimes), number of
            rows; None if the tree contains deleted rows
        """
        since = _minute(
            base.revoked_before_cutoff_time() + _overlap() + _MINUTE
        )
        # Ignore rows from a clock that is ahead.
        now = timeutils.utcnow()
        newest = max((at for at in self._rows if at <= now), default=_EPOCH)
        before = _minute(newest - _overlap())
        count = None if self._has_deleted else self._count(since, before)
        return since, before, count

    def _ahead_now(self):
        """By how much the wall clock is ahead of the monotonic one."""
        wall = (timeutils.utcnow() - _EPOCH).total_seconds()
        return wall - self._clock()

    def _newest_of(self, newest, floor):
        """The values of the row with the highest id, or None.

        If it has expired, it was not loaded, but also tells whether the table
        was emptied.
        """
        if floor and (newest is None or newest.id < floor):
            rows = self._driver.read_news(self._seen.known()).rows
            newest = next((row for row in rows if row.id == floor), None)
        return newest and _values_of(newest)

    def _read_news(self, row):
        row_id = None if self.has(row) else row.id
        news = self._driver.read_news(self._seen.known(), row_id)
        counters.count(CACHE, 'sync')
        if self._newest not in (None, *map(_values_of, news.rows)):
            LOG.info('The newest revocation event was deleted or replaced.')
            self._has_deleted = True
            self.load()
            return self.has(row)
        self._take(news.rows)
        if news.complete:
            self._seen.replace(row.id for row in news.rows)
        self._seen.raise_floor()
        self._expire()
        return (
            news.causal
            or row_id is None
            or any(each.id == row_id for each in news.rows)
        )

    def _recent(self):
        """Start of the time span in which late rows are looked for.

        Deleted rows, which are not known as such, would hide late ones.
        """
        # Nodes of an earlier release delete rows of this age.
        kept = datetime.timedelta(
            seconds=CONF.token.expiration + CONF.revoke.expiration_buffer
        )
        recent = min(_RECENT, kept - _DIFFERENCE)
        first = max(timeutils.utcnow() - recent, oldest())
        return _minute(first) + _MINUTE

    def _count(self, since, before=FOREVER):
        """The number of known rows in a span of whole minutes."""
        return sum(
            rows
            for minute, rows in self._rows.items()
            if since <= minute < before
        )

    def _read_again(self, since):
        """Read all rows recorded since a minute, known or not."""
        count = collections.Counter(
            {minute: n for minute, n in self._rows.items() if minute < since}
        )
        for rows in self._driver.read_events(since):
            self._take(rows)
            count.update(_minute(row.revoked_at) for row in rows)
        self._rows = count

    def _take(self, rows):
        counters.count(CACHE, 'rows', len(rows))
        for row in rows:
            self.tree.add(row)
            if self._seen.add(row.id):
                self._rows[_minute(row.revoked_at)] += 1
                if row.id == self._seen.last:
                    self._newest = _values_of(row)

    def _expire(self):
        cutoff = base.revoked_before_cutoff_time()
        self.tree.expire(cutoff)
        first = _minute(cutoff)
        for minute in [minute for minute in self._rows if minute < first]:
            del self._rows[minute]


def oldest():
    """Earliest possible time of a live event."""
    cutoff = base.revoked_before_cutoff_time().replace(microsecond=0)
    return max(cutoff, _EPOCH)


def _overlap():
    return datetime.timedelta(seconds=CONF.revoke.sync_overlap)


def _minute(moment):
    return moment.replace(second=0, microsecond=0)
