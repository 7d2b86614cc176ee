# SPDX-License-Identifier: Apache-2.0

"""Deletion of expired events in batches."""

import math
import time

#: Reasons to stop.
COMPLETE = 'no expired events left'
MAX_ROWS = 'maximum number of events reached'
MAX_TIME = 'maximum time reached'
INTERRUPTED = 'interrupted'
GIVEN_UP = 'the remaining events are locked by other transactions'

# Consecutive attempts that may fail on a lock of another transaction, and the
# bounds of the backoff between them, in seconds.
_TRIES = 10
_SHORTEST_PAUSE = 0.05
_LONGEST_PAUSE = 2


class Batches:
    """Deletes expired events until a limit is reached or none are left.

    Iterating deletes one batch at a time and yields each
    :class:`~keystone.revoke.backends.prune.Batch`.

    Each batch starts where the previous one ended, since the database may
    otherwise scan deleted rows again. Events that were locked by other
    transactions are retried in a final pass from the beginning.

    :param driver: a :class:`~keystone.revoke.backends.prune.Prune`
    :param before: naive UTC datetime; earlier events are deleted
    :param size: maximum number of events per batch
    :param max_rows: maximum number of events in total
    :param max_time: seconds after which no new batch is started
    :param pause: seconds between two batches
    :param clock: callable, returns monotonic seconds
    :param sleep: callable, takes seconds
    """

    def __init__(
        self,
        driver,
        before,
        size,
        max_rows=math.inf,
        max_time=math.inf,
        pause=0,
        clock=time.monotonic,
        sleep=time.sleep,
    ):
        self._driver = driver
        self._before = before
        self._size = size
        self._max_rows = max_rows
        self._max_time = max_time
        self._pause = pause
        self._clock = clock
        self._sleep = sleep
        #: why the deletion stopped, or None while it is running
        self.reason = None
        #: number of deleted events
        self.deleted = 0
        #: number of batches abandoned because of a lock
        self.given_up = 0
        self._began = None
        self._interrupted = False

    @property
    def seconds(self):
        """Seconds since the first batch started."""
        return self._clock() - self._began

    def interrupt(self):
        """Stop after the current batch; safe in signal handlers."""
        self._interrupted = True

    def __iter__(self):
        self._began = self._clock()
        since = None
        tries = 0
        while True:
            self.reason = self._limit()
            if self.reason:
                return
            limit = min(self._size, self._max_rows - self.deleted)
            batch = self._driver.prune_events(self._before, limit, since)
            self.deleted += batch.deleted
            yield batch
            if batch.given_up:
                self.given_up += 1
                tries += 1
                if tries == _TRIES:
                    self.reason = GIVEN_UP
                    return
                pause = min(_SHORTEST_PAUSE * 2**tries, _LONGEST_PAUSE)
                self._wait(max(pause, self._pause))
                continue
            tries = 0
            if batch.found == limit:
                since = batch.last
            elif since is None:
                self.reason = COMPLETE
                return
            else:
                since = None
            self._wait(self._pause)

    def _limit(self):
        if self._interrupted:
            return INTERRUPTED
        if self.deleted >= self._max_rows:
            return MAX_ROWS
        if self.seconds >= self._max_time:
            return MAX_TIME
        return None

    def _wait(self, seconds):
        # In slices, since a signal does not interrupt a sleep.
        end = min(self._clock() + seconds, self._began + self._max_time)
        while not self._interrupted and self._clock() < end:
            self._sleep(min(end - self._clock(), 0.1))
