# SPDX-License-Identifier: Apache-2.0

"""Replica of the revocation events in the memory of each worker process.

:class:`EventReplica` keeps a :class:`~keystone.revoke.table_copy.TableCopy`
synchronized with the table. Before each check, it queries the database unless
the stamp in the shared cache is the one of the last sync, and no more than
``[revoke] sync_interval`` seconds have passed since. While there are checks, a
thread synchronizes it twice per interval, so that few checks have to.

While the table is not in memory, the database is queried for each token.
"""

import collections
import threading
import time

from oslo_db import exception as db_exception
from oslo_log import log

from keystone.common import after_fork
from keystone.common import counters
import keystone.conf
from keystone.models import revoke_model
from keystone.revoke.backends import incremental
from keystone.revoke import background
from keystone.revoke import table_copy

CONF = keystone.conf.CONF
LOG = log.getLogger(__name__)

# Seconds between two searches for late rows, if each check queries.
_PAUSE = 1

# Seconds without a check after which the copy is not synchronized any more.
_IDLE = 300

# State of the last sync: stamp, time and number of local writes at its start,
# and its sequence number.
_View = collections.namedtuple(
    '_View', ('copy', 'stamp', 'synced_at', 'written', 'number')
)


class EventReplica:
    """Copy of the revocation events, synchronized with the table.

    Thread-safe. No lock is taken while the copy is up to date; otherwise, one
    thread synchronizes it and the others wait. It uses separate connections,
    and is reset in a forked process.

    :param driver: an
        :class:`~keystone.revoke.backends.incremental.IncrementalRead`
    :param stamp: a :class:`~keystone.revoke.stamp.SharedStamp`
    :param clock: callable, returns monotonic seconds
    """

    def __init__(self, driver, stamp, clock=time.monotonic):
        self.driver = driver
        #: synchronizes the copy between checks
        self.background = background.BackgroundSync(self)
        self._stamp = stamp
        self._clock = clock
        self._written = 0
        after_fork.call_now_and_after_fork(self._forget)

    def _forget(self):
        #: decides whether the table is loaded
        self.loader = background.Loader(self.driver, self._reload, self._clock)
        self._sync_lock = threading.Lock()
        #: as of the last query, with the :class:`.table_copy.TableCopy` as
        #: ``copy``; None while there is none
        self.view = None
        self._used_at = 0
        # As of the last sync, since reading options is slow.
        self._bound = 0
        self._begun = 0
        # Number and message of the last sync that failed.
        self._failed = (0, None)
        # (row not found in the database, since when), or None
        self._missing = None

    @property
    def bound(self):
        """Seconds that the copy may be used without a query."""
        # Otherwise, revocations by others are not announced.
        return CONF.revoke.sync_interval if self._stamp.is_shared else 0

    def is_revoked(self, token):
        """Whether an event of the table revokes a token.

        :param token: dictionary of
            :func:`~keystone.models.revoke_model.build_token_values`; missing
            values are treated as None
        :returns: bool
        :raises oslo_db.exception.DBError: a query is needed, and fails
        """
        return self.is_revoked_under(self._stamp.read(), token)

    def is_revoked_under(self, stamp, token):
        """The same, with a stamp that was read before the call."""
        view = self.view_in_step(stamp) or self._next_view(stamp)
        if view is None:
            counters.count(table_copy.CACHE, 'queried')
            events = self.driver.read_matching(token)
            return revoke_model.is_revoked(events, token)
        return view.copy.tree.is_revoked(token)

    def view_in_step(self, stamp):
        """The events, if they are up to date without a query.

        :param stamp: the current stamp
        :returns: an object with the
            :class:`~keystone.revoke.tree.RevocationTree` as ``copy.tree`` and
            a ``number`` that changes with each sync; None if a query is
            needed
        """
        view = self.view
        now = self._clock()
        # The clock may go back.
        if (
            view is not None
            and view.stamp == stamp
            and view.written == self._written
            and 0 <= now - view.synced_at < self._bound
        ):
            self._used_at = now
            counters.count(table_copy.CACHE, 'in_step')
            return view
        return None

    def refresh(self):
        """Synchronize the copy if half of the bound is over.

        :returns: seconds after which to call this again; None if there is no
            copy that is kept between checks, or none was used for a while
        :raises oslo_db.exception.DBError: a query is needed, and fails
        """
        bound = self.bound
        is_idle = self._clock() - self._used_at > _IDLE
        if not bound or is_idle or self.view is None:
            return None
        stamp = self._stamp.read()
        with self._sync_lock:
            view = self.view
            if view and self._clock() >= view.synced_at + bound / 2:
                view = self._sync(view, stamp)
        if view is None:
            return None
        self._recount()
        due = view.synced_at + bound / 2 - self._clock()
        return max(due, bound / 20)

    def written(self, row):
        """Record that this process has committed an event.

        :param row: a :class:`~keystone.revoke.stamp.Row`, or None if unknown
        """
        self._written += 1
        if row is not None:
            self._stamp.note_row(row)

    def _next_view(self, stamp):
        """The view after a query; None if the table is not in memory."""
        # A sync that starts from now on includes the events of this stamp.
        begun = self._begun
        self._used_at = self._clock()
        with self._sync_lock:
            view = self.view
            if view is None or view.number <= begun:
                failed, message = self._failed
                if failed > begun:
                    # Do not wait for the database once more.
                    raise db_exception.DBError(message)
                view = self._sync(view, stamp)
            if view is None:
                return None
            if self._bound:
                self.background.start()
        self._recount()
        return self.view or view

    def _sync(self, view, stamp):
        self._begun += 1
        try:
            self.view = self._try_sync(view, stamp)
        except Exception as error:
            # An event may be missing, even if the copy has the named row:
            # another one may have been announced before it.
            counters.count(table_copy.CACHE, 'failed')
            # The exception itself would keep the whole request.
            self._failed = (self._begun, str(error))
            raise
        return self.view

    def _try_sync(self, view, stamp):
        self._bound = self.bound
        if view is not None and view.copy.is_outdated:
            view = None
        is_new = view is None or view.stamp != stamp
        row = self._stamp.row_of(stamp) if is_new else None
        now, written = self._clock(), self._written
        copy, is_found = self._read(view and view.copy, row, now)
        if copy is None or not self.loader.has_room(len(copy)):
            return None
        if not self._is_over(is_found, row):
            # No stamp equals this one, so the next check looks for the row.
            stamp = object()
        return _View(copy, stamp, now, written, self._begun)

    @incremental.retry_read
    def _read(self, copy, row, now):
        """Read new events into a copy, or all into a new one.

        :returns: the copy, or None if the table is not to be loaded; whether
            the row was found
        """
        if copy is None:
            if not self.loader.may_load():
                return None, True
            copy = table_copy.TableCopy(self.driver, self._clock)
            copy.load()
            is_found = copy.has(row) or copy.sync(row)
        elif now - copy.looked_at < (self._bound / 2 or _PAUSE):
            return copy, copy.sync(row)
        else:
            is_found = copy.sync(row, late=True)
        copy.looked_at = now
        return copy, is_found

    def _is_over(self, is_found, row):
        """Whether the row named by a stamp was found, or is overdue."""
        if is_found:
            self._missing = None
            return True
        now = self._clock()
        if self._missing is None or self._missing[0] != row:
            self._missing = (row, now)
        if now - self._missing[1] < self._bound:
            return False
        LOG.warning(
            'Revocation event %(id)d not found within %(bound)d seconds. '
            'It was deleted or never committed.',
            {'id': row.id, 'bound': self._bound},
        )
        return True

    def _recount(self):
        """Reload the table if its number of rows does not match."""
        view, now = self.view, self._clock()
        interval = CONF.revoke.recount_interval
        if view is None or not interval:
            return
        copy = view.copy
        if 0 <= now - copy.counted_at < interval:
            return
        copy.counted_at = now
        try:
            with self._sync_lock:
                *span, ours = copy.settled()
            theirs = self.driver.count_events(*span)
            if theirs != ours:
                LOG.info(
                    'Reloading revocation events: the database has %(theirs)d '
                    'settled events, memory has %(ours)s.',
                    {'theirs': theirs, 'ours': ours},
                )
                if not self.loader.load_apart(len(copy)):
                    self._reload()
        except Exception as error:
            counters.count(table_copy.CACHE, 'failed')
            LOG.warning('Failed to count revocation events: %s', error)

    @incremental.retry_read
    def _reload(self):
        """Load the table, while the current copy is still synchronized."""
        copy = table_copy.TableCopy(self.driver, self._clock)
        copy.load()
        with self._sync_lock:
            self._begun += 1
            now, written = self._clock(), self._written
            copy.sync()
            # No stamp equals this one, so the next check looks again for the
            # row of the stamp, which a lagging database may have missed.
            self.view = _View(copy, object(), now, written, self._begun)
