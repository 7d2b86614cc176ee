# SPDX-License-Identifier: Apache-2.0

"""Whether, and in which thread, the table of events is loaded."""

import math

from oslo_log import log

from keystone.common.cache import counters
import keystone.conf
from keystone.revoke import background
from keystone.revoke import table_copy

CONF = keystone.conf.CONF
LOG = log.getLogger(__name__)

# Maximum number of rows loaded within a check.
_AT_ONCE = 10_000

# Seconds until a table that had too many rows, or could not be loaded, is
# checked again, and the share of the limit that it must be down to.
_LOOK_AGAIN = 60
_ENOUGH = 0.9


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
            self.thread = background.start(self._run)
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
