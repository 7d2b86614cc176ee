# SPDX-License-Identifier: Apache-2.0

"""A copy of the table of revocation events in memory."""

import collections
import datetime
import operator
import time

from oslo_log import log
from oslo_utils import timeutils

import keystone.conf
from keystone.models import revoke_model
from keystone.revoke.backends import base
from keystone.revoke import seen_ids
from keystone.revoke import tree

CONF = keystone.conf.CONF
LOG = log.getLogger(__name__)

_EPOCH = datetime.datetime(1970, 1, 1)
_MINUTE = datetime.timedelta(minutes=1)

# By how much the clocks of Keystone's hosts may differ.
_SKEW = datetime.timedelta(hours=1)

# How far back an event is looked for whose commit came late.
_RECENT = 2 * _SKEW

_PROGRESS = 100_000

_values_of = operator.attrgetter('id', *revoke_model.REVOKE_KEYS)


class TableCopy:
    """The live rows of the table, as a tree.

    One thread at a time may call the methods; any number of threads may check
    tokens with :attr:`tree` meanwhile.

    Rows are found by their ids, so that no clock can hide one: see
    :class:`~keystone.revoke.seen_ids.SeenIds`. Each read includes the newest
    row known: if it is not what it was, the table was emptied or restored,
    and is read again from the beginning. What was deleted stays in the tree.

    :param driver: an
        :class:`~keystone.revoke.backends.incremental.IncrementalRead`
    :param clock: callable, returns seconds that never go back
    """

    def __init__(self, driver, clock=time.monotonic):
        self._driver = driver
        #: a :class:`~keystone.revoke.tree.RevocationTree`
        self.tree = tree.RevocationTree()
        self._seen = seen_ids.SeenIds(clock)
        # The values of the row with the highest id.
        self._newest = None
        # {minute: number of rows revoked in it}
        self._rows = collections.Counter()
        self._total = 0
        self._has_deleted = False

    def __len__(self):
        """The number of rows, each counted that has the same attributes."""
        return self._total

    def load(self):
        """Read the whole table.

        :returns: True if the read was causal
        """
        began = time.monotonic()
        ids, count, newest = [], collections.Counter(), None
        progress = _PROGRESS

        def take(rows):
            nonlocal newest, progress
            add = self.tree.add
            for row in rows:
                add(row)
                count[_minute(row.revoked_at)] += 1
                if row.id > floor:
                    ids.append(row.id)
                if newest is None or row.id > newest.id:
                    newest = row
            if count.total() >= progress:
                LOG.info('Loaded %d revocation events so far.', count.total())
                progress += _PROGRESS

        # No row can come up below it, by the slowest clock.
        floor = self._driver.id_before(timeutils.utcnow() - _SKEW - _overlap())
        causal = self._driver.read_events(oldest(), take)
        self._rows, self._total = count, count.total()
        self._seen.reset(floor, ids)
        self._newest = newest and _values_of(newest)
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

        :param row: a :class:`~keystone.revoke.stamp.Row` to look for
        :returns: False if that row is not there, and the database may have it
            elsewhere
        """
        row_id = None if row is None or self.has(row) else row.id
        news = self._driver.read_news(self._seen.known(), row_id)
        if not self._is_continued_by(news.rows):
            LOG.info('The newest revocation event was deleted or replaced.')
            self._has_deleted = True
            return self.load() or row is None or self.has(row)
        if news.between is not None:
            self._take(news.between)
            self._seen.replace(row.id for row in news.between)
        self._take(news.rows)
        self._seen.raise_floor()
        self._expire()
        return (
            news.causal
            or row_id is None
            or any(each.id == row_id for each in news.rows)
        )

    def has(self, row):
        """Tell whether a row is certainly in the tree.

        :param row: a :class:`~keystone.revoke.stamp.Row`
        """
        return row.id in self._seen

    def recent(self):
        """The first moment after which late rows are looked for."""
        first = max(timeutils.utcnow() - _RECENT, oldest())
        return _EPOCH + (_minute(first) + 1) * _MINUTE

    def count(self, since, before=datetime.datetime.max):
        """The number of rows of a span of whole minutes.

        :param since: naive UTC datetime, the first moment of the span
        :param before: naive UTC datetime, the first moment after the span
        """
        first, last = _minute(since), _minute(before)
        return sum(
            rows
            for minute, rows in self._rows.items()
            if first <= minute < last
        )

    def read_again(self, since):
        """Read rows that were recorded from a minute on, known or not."""
        count = collections.Counter()

        def take(rows):
            self._take(rows)
            count.update(_minute(row.revoked_at) for row in rows)

        self._driver.read_events(since, take)
        first = _minute(since)
        for minute, rows in self._rows.items():
            if minute < first:
                count[minute] = rows
        self._rows, self._total = count, count.total()

    def settled(self):
        """Tell how many rows the table must have in a span of time.

        The span leaves out what is being written and what is being pruned.

        :returns: first moment of the span, first moment after it (naive UTC
            datetimes), number of rows; None if the tree has deleted ones
        """
        since = base.revoked_before_cutoff_time() + _overlap() + _MINUTE
        since = _EPOCH + _minute(since) * _MINUTE
        # A row from a clock that is ahead settles nothing.
        now = _minute(timeutils.utcnow())
        newest = max((at for at in self._rows if at <= now), default=0)
        before = _EPOCH + newest * _MINUTE - _overlap()
        before = _EPOCH + _minute(before) * _MINUTE
        count = None if self._has_deleted else self.count(since, before)
        return since, before, count

    def _is_continued_by(self, rows):
        newest = self._newest
        return newest is None or newest in map(_values_of, rows)

    def _take(self, rows):
        for row in rows:
            self.tree.add(row)
            if self._seen.add(row.id):
                self._rows[_minute(row.revoked_at)] += 1
                self._total += 1
                if row.id == self._seen.last:
                    self._newest = _values_of(row)

    def _expire(self):
        cutoff = base.revoked_before_cutoff_time()
        self.tree.expire(cutoff)
        first = _minute(cutoff)
        for minute in [minute for minute in self._rows if minute < first]:
            self._total -= self._rows.pop(minute)


def oldest():
    """The first moment of which there can be live events."""
    cutoff = base.revoked_before_cutoff_time().replace(microsecond=0)
    return max(cutoff, _EPOCH)


def _overlap():
    return datetime.timedelta(seconds=CONF.revoke.sync_overlap)


def _minute(moment):
    return (moment - _EPOCH) // _MINUTE
