# SPDX-License-Identifier: Apache-2.0

"""Replica of the revocation events in the memory of each worker process.

:class:`EventReplica` keeps a :class:`~keystone.revoke.table_copy.TableCopy`
synchronized with the table. Before each check, it queries the database unless
the stamp in the shared cache is the one of the last sync, and no more than
``[revoke] sync_interval`` seconds have passed since. While there are checks, a
thread synchronizes it twice per interval, so that few checks have to.

A table with many rows is loaded in the background, and one with too many is
not loaded: meanwhile, the database is queried for each token.
"""

import collections
import datetime
import threading
import time

from oslo_db import exception as db_exception
from oslo_log import log
from oslo_utils import timeutils

from keystone.common import after_fork
from keystone.common.cache import counters
import keystone.conf
from keystone.models import revoke_model
from keystone.revoke.backends import incremental
from keystone.revoke import background
from keystone.revoke import stamp as stamps
from keystone.revoke import table_copy

CONF = keystone.conf.CONF
LOG = log.getLogger(__name__)

# Seconds by which the wall clock may differ from the monotonic one before the
# table is loaded again.
_STEP = 60

# Seconds between two counts of recent rows, at least, if each check queries.
_COUNT = 1

# Maximum number of rows loaded within a check.
_AT_ONCE = 10_000

# Seconds until a table that had too many rows, or could not be loaded, is
# checked again, and the share of the limit that it must be down to.
_LOOK_AGAIN = 60
_ENOUGH = 0.9

# Seconds without a check after which the copy is not synchronized any more.
_IDLE = 300

# Epoch of the wall clock.
_EPOCH = datetime.datetime(1970, 1, 1)
_FOREVER = datetime.datetime(9999, 12, 31)

# State of the last sync: stamp, time and number of local writes at its start,
# and its sequence number.
_View = collections.namedtuple(
    '_View', ('copy', 'stamp', 'synced_at', 'written', 'number')
)


class NotInMemory(Exception):
    """The copy is being loaded, or the table has too many rows for it."""


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
        #: callable, called after a check had to synchronize the copy
        self.on_sync = None
        self._stamp = stamp
        self._clock = clock
        self._written = 0
        after_fork.call_now_too(self._forget)

    def _forget(self):
        self._sync_lock = threading.Lock()
        self._reload_lock = threading.Lock()
        self._view = None
        self._used_at = 0
        # The thread that loads the table, or None.
        self._loader = None
        # Time until which checks do not try to load the table, or None.
        self._rests_until = None
        self._is_crowded = False
        # As of the last sync, since reading options is slow.
        self._bound = 0
        self._begun = 0
        # Number and message of the last sync that failed.
        self._failed = (0, None)
        self._counted_at = None
        self._looked_at = None
        # By how much the wall clock is ahead of the monotonic one.
        self._ahead = None
        # (row not found in the database, since when), or None
        self._missing = None

    @property
    def bound(self):
        """Seconds that the copy may be used without a query."""
        if self._stamp.is_shared:
            return CONF.revoke.sync_interval
        return 0  # revocations by others are not announced

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
        try:
            events = self.sync(stamp)
        except NotInMemory:
            counters.count(table_copy.CACHE, 'queried')
            return revoke_model.is_revoked(
                self.driver.read_matching(token), token
            )
        return events.is_revoked(token)

    def view_in_step(self, stamp):
        """The events, if they are up to date without a query.

        :param stamp: the current stamp
        :returns: an object with the
            :class:`~keystone.revoke.tree.RevocationTree` as ``copy.tree`` and
            a ``number`` that changes with each sync; None if a query is
            needed
        """
        view = self._view
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

    def sync(self, stamp):
        """The up-to-date events, after a query if needed.

        :param stamp: a stamp that was read before the call
        :returns: a :class:`~keystone.revoke.tree.RevocationTree`
        :raises NotInMemory: the database must be queried for each token
        :raises oslo_db.exception.DBError: a query is needed, and fails
        """
        # A sync that starts from now on includes the events of this stamp.
        begun = self._begun
        view = self.view_in_step(stamp)
        if view is not None:
            return view.copy.tree
        self._used_at = self._clock()
        with self._sync_lock:
            view = self._view
            if view is None or view.number <= begun:
                failed, error = self._failed
                if failed > begun:
                    # Do not wait for the database once more.
                    raise db_exception.DBError(error)
                view = self._sync(view, stamp)
            if view is None:
                raise NotInMemory
            if self._bound and self.on_sync is not None:
                self.on_sync()
        self._recount()
        return (self._view or view).copy.tree

    def refresh(self):
        """Synchronize the copy if half of the bound is over.

        :returns: seconds after which to call this again; None if there is no
            copy that is kept between checks, or none was used for a while
        :raises oslo_db.exception.DBError: a query is needed, and fails
        """
        bound = self.bound
        is_idle = self._clock() - self._used_at > _IDLE
        if not bound or is_idle or self._view is None:
            return None
        stamp = self._stamp.read()
        with self._sync_lock:
            view = self._view
            if (
                view is not None
                and self._clock() >= view.synced_at + bound / 2
            ):
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

    def status(self):
        """Status of the copy.

        :returns: dict with ``rows``, ``distinct`` and ``kinds`` ({names of
            attributes: number of events}), and ``age``, the seconds since
            the last query; None while there is no copy
        """
        view = self._view
        if view is None:
            return None
        return {
            'rows': len(view.copy),
            'distinct': len(view.copy.tree),
            'kinds': view.copy.tree.counts(),
            'age': self._clock() - view.synced_at,
        }

    def _sync(self, view, stamp):
        self._begun += 1
        try:
            return self._try_sync(view, stamp)
        except Exception as error:
            # An event may be missing, even if the copy has the named row:
            # another one may have been announced before it.
            counters.count(table_copy.CACHE, 'failed')
            # The exception itself would keep the whole request.
            self._failed = (self._begun, str(error))
            raise

    def _try_sync(self, view, stamp):
        if view is None and not self._may_load():
            return None
        self._bound = self.bound
        began = _View(
            view and view.copy, stamp, self._clock(), self._written,
            self._begun,
        )  # fmt: skip
        changed = view is None or view.stamp != stamp or stamp is None
        row = self._stamp.row_of(stamp) if changed else None
        began = self._read(began, row)
        self._view = None if self._are_too_many(len(began.copy)) else began
        return began

    @incremental.retry_read
    def _may_load(self):
        """Whether the table is small enough to be loaded by a check."""
        if self._loader is not None or (
            self._rests_until is not None and self._clock() < self._rests_until
        ):
            return False
        rows = self.driver.count_events(table_copy.oldest(), _FOREVER)
        if self._are_too_many(rows):
            return False
        if rows <= _AT_ONCE:
            return True
        self._load_apart()
        return False

    def _are_too_many(self, rows):
        """Whether the number of rows exceeds the limit."""
        bound = CONF.revoke.max_events_in_memory
        most = bound * _ENOUGH if self._is_crowded else bound
        if rows <= most:
            self._is_crowded = False
            return False
        if not self._is_crowded:
            LOG.warning(
                'Number of revocation events (%(rows)d) exceeds [revoke] '
                'max_events_in_memory (%(bound)d). Querying the database for '
                'each token.',
                {'rows': rows, 'bound': bound},
            )
        self._is_crowded = True
        self._rest()
        return True

    def _rest(self):
        self._rests_until = self._clock() + _LOOK_AGAIN

    @incremental.retry_read
    def _read(self, began, row):
        """Read new events.

        :returns: a view that includes them
        """
        copy, ahead = began.copy, self._ahead_now()
        if copy is None or abs(ahead - self._ahead) > _STEP:
            LOG.info('Loading revocation events into memory.')
            copy = copy or table_copy.TableCopy(self.driver, self._clock)
            settled = copy.load() or row is None or copy.has(row)
            self._ahead = ahead
            self._counted_at = self._looked_at = began.synced_at
            if not settled:
                settled = copy.sync(row)
        else:
            settled = self._catch_up(copy, began.synced_at, row)
        if not self._is_over(settled, row):
            # No stamp equals this one, so the next check looks for the row.
            began = began._replace(stamp=object())
        return began._replace(copy=copy)

    def _ahead_now(self):
        wall = (timeutils.utcnow() - _EPOCH).total_seconds()
        return wall - self._clock()

    def _catch_up(self, copy, now, row):
        """Read new rows, and periodically those committed late."""
        if now - self._looked_at < (self.bound / 2 or _COUNT):
            return copy.sync(row)
        since = copy.recent()
        theirs = self.driver.count_events(since, _FOREVER)
        settled = copy.sync(row)
        if copy.count(since) < theirs:
            copy.read_again(since)
        self._looked_at = now
        return settled

    def _is_over(self, settled, row):
        """Whether the row named by a stamp was found, or is overdue."""
        if settled:
            self._missing = None
            return True
        now = self._clock()
        if self._missing is None or self._missing[0] != row:
            self._missing = (row, now)
        if now - self._missing[1] < self.bound:
            return False
        LOG.warning(
            'Revocation event %(id)d not found within %(bound)d seconds. '
            'It was deleted or never committed.',
            {'id': row.id, 'bound': self.bound},
        )
        return True

    def _recount(self):
        """Reload the table if its number of rows does not match."""
        interval = CONF.revoke.recount_interval
        now = self._clock()
        if not interval or 0 <= now - self._counted_at < interval:
            return
        if not self._reload_lock.acquire(blocking=False):
            return
        try:
            self._counted_at = now
            with self._sync_lock:
                if self._view is None:
                    return
                copy = self._view.copy
                since, before, ours = copy.settled()
            theirs = self.driver.count_events(since, before)
            if theirs != ours:
                LOG.info(
                    'Reloading revocation events: the database has %(theirs)d '
                    'settled events, memory has %(ours)s.',
                    {'theirs': theirs, 'ours': ours},
                )
                if len(copy) > _AT_ONCE:
                    self._load_apart()
                else:
                    self._reload()
        except Exception as error:
            counters.count(table_copy.CACHE, 'failed')
            LOG.warning('Failed to count revocation events: %s', error)
        finally:
            self._reload_lock.release()

    def _load_apart(self):
        if self._loader is not None:
            return
        self._loader = threading.Thread(
            target=self._load, name='revocation-events', daemon=True
        )
        try:
            self._loader.start()
        except RuntimeError as error:
            self._cannot_load(error)

    def _load(self):
        with counters.counting():
            try:
                self._reload()
            except Exception as error:
                self._cannot_load(error)
            else:
                self._loader = None

    def _cannot_load(self, error):
        counters.count(table_copy.CACHE, 'failed')
        LOG.warning('Failed to load revocation events: %s', error)
        self._rest()
        self._loader = None

    @incremental.retry_read
    def _reload(self):
        ahead = self._ahead_now()
        copy = table_copy.TableCopy(self.driver, self._clock)
        # The current copy, if any, is still synchronized meanwhile.
        copy.load()
        with self._sync_lock:
            self._begun += 1
            # No stamp equals this one, so the next check looks again for the
            # row of the stamp, which a lagging database may have missed.
            view = _View(
                copy, object(), self._clock(), self._written, self._begun
            )
            copy.sync()
            self._ahead = ahead
            self._counted_at = self._looked_at = view.synced_at
            self._view = view


class TokenCheck:
    """Checks tokens with the replica, or with the driver as a fallback.

    :param region: the cache region that each revocation invalidates
    """

    def __init__(self, region):
        self._stamp = stamps.SharedStamp(region)
        self._replica = None
        self._lock = threading.Lock()
        self._told = None

    def is_revoked(self, driver, token):
        """Whether a token is revoked.

        :param driver: the ``[revoke] driver``
        :param token: dictionary of
            :func:`~keystone.models.revoke_model.build_token_values`
        :returns: bool
        """
        replica = self.replica(driver)
        if replica is not None:
            return replica.is_revoked(token)
        counters.count(table_copy.CACHE, 'queried')
        events = driver.list_events(token=token)
        return revoke_model.is_revoked(events, token)

    def written(self, driver, row_id, event):
        """Record a committed event, before the region id is changed.

        :param driver: the ``[revoke] driver``
        :param row_id: result of its ``revoke``: the id of the event's row, or
            None
        :param event: a :class:`~keystone.models.revoke_model.RevokeEvent`
        """
        replica = self.replica(driver)
        if replica is not None:
            row = row_id and stamps.Row(row_id, event.revoked_at)
            replica.written(row)

    def replica(self, driver):
        """The replica of a driver's events.

        :returns: an :class:`EventReplica`; None if ``[revoke]
            max_events_in_memory`` is 0 or the driver does not support
            incremental reads
        """
        if not CONF.revoke.max_events_in_memory:
            self._tell(None, 'Querying revocation events for each token.')
            return None
        if not isinstance(driver, incremental.IncrementalRead):
            self._tell(
                driver,
                'The revocation driver does not support incremental reads. '
                'Querying revocation events for each token.',
            )
            return None
        replica = self._replica
        if replica is None or replica.driver is not driver:
            with self._lock:
                replica = self._replica
                if replica is None or replica.driver is not driver:
                    replica = EventReplica(driver, self._stamp)
                    replica.on_sync = background.BackgroundSync(replica).start
                    self._replica = replica
        return replica

    def _tell(self, driver, message):
        about = (driver, message)
        if self._told != about:
            self._told = about
            LOG.info(message)
