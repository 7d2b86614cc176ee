# SPDX-License-Identifier: Apache-2.0

"""Batches of expired events, one after the other, until there is a reason."""

import time

#: Reasons to stop.
COMPLETE = 'nothing that has expired is left'
MAX_ROWS = 'the largest number of events is reached'
MAX_TIME = 'the time is up'
INTERRUPTED = 'interrupted'
GIVEN_UP = 'others hold locks on the events that are left'

# How often in a row somebody else's lock may be met, and the pauses before it
# is tried again, in seconds.
_TRIES = 10
_SHORTEST_PAUSE = 0.05
_LONGEST_PAUSE = 2


class Batches:
    """Deletes expired events until there is a reason to stop.

    Iterating over it deletes, and gives each
    :class:`~keystone.revoke.backends.prune.Batch`.

    Each batch begins where the one before has ended, as a database may walk
    over deleted rows otherwise. What others had locked on the way is taken
    from the beginning again, in the end.

    :param driver: a :class:`~keystone.revoke.backends.prune.Prune`
    :param before: naive UTC datetime; earlier events are deleted
    :param size: largest number of events in a batch
    :param max_rows: largest number of events altogether, or None
    :param max_time: seconds after which no batch begins, or None
    :param pause: seconds between two batches
    :param clock: callable, returns seconds that never go back
    :param sleep: callable, takes seconds
    """

    def __init__(
        self,
        driver,
        before,
        size,
        max_rows=None,
        max_time=None,
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
        #: why it has stopped; None before
        self.reason = None
        #: number of events that were deleted
        self.deleted = 0
        #: number of batches that met somebody else's lock
        self.given_up = 0
        self._began = None
        self._interrupted = False

    @property
    def seconds(self):
        """Seconds since the first batch began."""
        return self._clock() - self._began

    def interrupt(self):
        """Stop after the batch that is under way; for signal handlers."""
        self._interrupted = True

    def __iter__(self):
        self._began = self._clock()
        since = None
        tries = 0
        while True:
            self.reason = self._limit()
            if self.reason:
                return
            limit = self._size
            if self._max_rows is not None:
                limit = min(limit, self._max_rows - self.deleted)
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
        if self._max_rows is not None and self.deleted >= self._max_rows:
            return MAX_ROWS
        if self._max_time is not None and self.seconds >= self._max_time:
            return MAX_TIME
        return None

    def _wait(self, seconds):
        # In slices: a signal does not end a sleep.
        end = self._clock() + seconds
        while not self._interrupted:
            left = end - self._clock()
            if self._max_time is not None:
                left = min(left, self._max_time - self.seconds)
            if left <= 0:
                return
            self._sleep(min(left, 0.1))
