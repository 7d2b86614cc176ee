# SPDX-License-Identifier: Apache-2.0

"""Deletion of expired events in batches."""

from collections.abc import Callable
import dataclasses
import datetime
import math
import time

from keystone.revoke.backends import prune

#: Reasons to stop.
COMPLETE = 'no unlocked expired events left'
MAX_ROWS = 'maximum number of events reached'
MAX_TIME = 'maximum time reached'
INTERRUPTED = 'interrupted'
GIVEN_UP = 'the remaining events are locked by other transactions'

# Consecutive attempts that may fail on a lock of another transaction, and the
# bounds of the backoff between them, in seconds.
_TRIES = 10
_SHORTEST_PAUSE = 0.05
_LONGEST_PAUSE = 2


@dataclasses.dataclass
class Batches:
    """Deletes unlocked expired events until a limit or the end is reached.

    Iterating deletes one batch at a time and yields each
    :class:`~keystone.revoke.backends.prune.Batch`.

    Each batch starts where the previous one ended, since the database may
    otherwise scan deleted rows again. Events that were locked by other
    transactions are retried in a final pass from the beginning.
    """

    driver: prune.Prune
    #: naive UTC datetime; earlier events are deleted
    before: datetime.datetime
    #: maximum number of events per batch
    size: int
    #: maximum number of events in total
    max_rows: float = math.inf
    #: seconds after which no new batch is started
    max_time: float = math.inf
    #: seconds between two batches
    pause: float = 0
    #: returns monotonic seconds
    clock: Callable[[], float] = time.monotonic
    #: takes seconds
    sleep: Callable[[float], None] = time.sleep

    #: why the deletion stopped, or None while it is running
    reason = None
    #: number of deleted events
    deleted = 0
    #: number of batches abandoned because of a lock
    given_up = 0

    _began = None
    _interrupted = False

    @property
    def seconds(self):
        """Seconds since the first batch started."""
        return self.clock() - self._began

    def interrupt(self):
        """Stop after the current batch; safe in signal handlers."""
        self._interrupted = True

    def __iter__(self):
        self._began = self.clock()
        since = None
        tries = 0
        while True:
            self.reason = self._limit()
            if self.reason:
                return
            limit = min(self.size, self.max_rows - self.deleted)
            batch = self.driver.prune_events(self.before, limit, since)
            self.deleted += batch.deleted
            yield batch
            if batch.given_up:
                self.given_up += 1
                tries += 1
                if tries == _TRIES:
                    self.reason = GIVEN_UP
                    return
                pause = min(_SHORTEST_PAUSE * 2**tries, _LONGEST_PAUSE)
                self._wait(max(pause, self.pause))
                continue
            tries = 0
            if batch.found == limit:
                since = batch.last
            elif since is None:
                self.reason = COMPLETE
                return
            else:
                since = None
            self._wait(self.pause)

    def _limit(self):
        if self._interrupted:
            return INTERRUPTED
        if self.deleted >= self.max_rows:
            return MAX_ROWS
        if self.seconds >= self.max_time:
            return MAX_TIME
        return None

    def _wait(self, seconds):
        # In slices, since a signal does not interrupt a sleep.
        end = min(self.clock() + seconds, self._began + self.max_time)
        while not self._interrupted and self.clock() < end:
            self.sleep(min(end - self.clock(), 0.1))
