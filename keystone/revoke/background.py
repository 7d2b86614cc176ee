# SPDX-License-Identifier: Apache-2.0

"""Work with the revocation events for which no request waits.

The database may be in another region: a query then takes longer than all else
that a validation does.
"""

import math
import threading
import time
import weakref

from oslo_context import context as oslo_context
from oslo_db import exception as db_exception
from oslo_log import log

from keystone.common import counters
import keystone.conf
from keystone.revoke.backends import incremental
from keystone.revoke import table_copy

CONF = keystone.conf.CONF
LOG = log.getLogger(__name__)

# Seconds between two attempts to read from a database that fails.
_RETRY = 1

# Maximum number of rows loaded within a check.
_AT_ONCE = 10_000

# Seconds until a table that had too many rows, or could not be loaded, is
# checked again, and the share of the limit that it must be down to.
_LOOK_AGAIN = 60
_ENOUGH = 0.9


def is_local():
    """Whether the database is SQLite, which has no concurrent writers.

    Also if there is none, as with a third-party driver, or if it fails, which
    the caller's query then reports.
    """
    try:
        return incremental.engine().dialect.name == 'sqlite'
    except (db_exception.CantStartEngineError, db_exception.DBError):
        return True


def start(function, *args):
    """Call a function in a daemon thread.

    :returns: the thread; None if the caller should do without, since the
        database :func:`is_local`, or threads cannot be started
    """
    if is_local():
        return None
    thread = threading.Thread(
        target=function, args=args, name='revocation-events', daemon=True
    )
    try:
        thread.start()
    except RuntimeError as error:
        LOG.debug('Failed to start a thread: %s', error)
        return None
    return thread


class BackgroundSync:
    """A thread that synchronizes a replica before checks have to.

    It ends when the replica is not used any more. Checks do not rely on it:
    without it, they synchronize the replica themselves.

    :param replica: an :class:`~keystone.revoke.replica.EventReplica`
    :param sleep: callable, waits for a number of seconds
    """

    def __init__(self, replica, sleep=time.sleep):
        # A replica that was replaced must not be kept by its thread.
        self._replica = weakref.ref(replica)
        self._sleep = sleep
        #: the last thread, or None
        self.thread = None

    def start(self):
        """Start the thread, unless it runs; by one thread at a time."""
        # In a forked process, a thread of its parent is not alive.
        if self.thread is None or not self.thread.is_alive():
            self.thread = start(self._run)

    def _run(self):
        while (seconds := self._refresh()) is not None:
            self._sleep(seconds)

    def _refresh(self):
        replica = self._replica()
        if replica is None:
            return None
        # What is read from the cache may be kept in the thread's context.
        oslo_context.RequestContext(overwrite=True)
        try:
            with counters.counting():
                return replica.refresh()
        except Exception as error:
            LOG.warning('Failed to read revocation events: %s', error)
            return _RETRY


class Loader:
    """Loads a large table in a thread, and one that is too large not at all.

    :param driver: an
        :class:`~keystone.revoke.backends.incremental.IncrementalRead`
    :param load: callable, loads the table
    :param clock: callable, returns monotonic seconds
    """

    def __init__(self, driver, load, clock):
        self._driver = driver
        self._load = load
        self._clock = clock
        self._rests_until = -math.inf
        self._is_crowded = False
        #: the last thread that loaded the table, or None
        self.thread = None

    def may_load(self):
        """Whether a check may load the table; a thread may begin to."""
        if self._is_loading() or self._clock() < self._rests_until:
            return False
        rows = self._driver.count_events(
            table_copy.oldest(), table_copy.FOREVER
        )
        return self.has_room(rows) and not self.load_apart(rows)

    def load_apart(self, rows):
        """Load the table in a thread, if it has many rows.

        :returns: False if the caller should load it: it has few rows, or there
            can be no thread
        """
        if rows <= _AT_ONCE:
            return False
        if not self._is_loading():
            self.thread = start(self._run)
        return self.thread is not None

    def has_room(self, rows):
        """Whether so many rows may be kept in memory."""
        limit = CONF.revoke.max_events_in_memory
        if rows <= (limit * _ENOUGH if self._is_crowded else limit):
            self._is_crowded = False
            return True
        if not self._is_crowded:
            LOG.warning(
                'Number of revocation events (%(rows)d) exceeds [revoke] '
                'max_events_in_memory (%(limit)d). Querying the database for '
                'each token.',
                {'rows': rows, 'limit': limit},
            )
        self._is_crowded = True
        self._rests_until = self._clock() + _LOOK_AGAIN
        return False

    def _is_loading(self):
        return self.thread is not None and self.thread.is_alive()

    def _run(self):
        with counters.counting():
            try:
                self._load()
            except Exception as error:
                counters.count(table_copy.CACHE, 'failed')
                LOG.warning('Failed to load revocation events: %s', error)
                self._rests_until = self._clock() + _LOOK_AGAIN
