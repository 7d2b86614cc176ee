# SPDX-License-Identifier: Apache-2.0

"""Work with the revocation events for which no request waits.

The database may be in another region: a query then takes longer than all else
that a validation does.
"""

import threading
import time
import weakref

from oslo_context import context as oslo_context
from oslo_db import exception as db_exception
from oslo_log import log

from keystone.common.cache import counters
from keystone.revoke.backends import incremental

LOG = log.getLogger(__name__)

# Seconds between two attempts to read from a database that fails.
_RETRY = 1


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
