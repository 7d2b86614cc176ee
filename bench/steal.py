# SPDX-License-Identifier: Apache-2.0

"""CPU time that the host of a virtual machine uses for something else.

The kernel counts it as steal, see proc_stat(5): a task was ready to run in the
virtual machine while the host ran something else. It comes in bursts, from
nothing to nearly all within seconds, and would affect only one side of a
comparison. A slice of time from which much was stolen is measured again.
"""

import os
import pathlib
import time

from patchset import errors

_STAT = pathlib.Path('/proc/stat')
_TICK = 1 / os.sysconf('SC_CLK_TCK')  # seconds
_MUCH = 0.05  # share of a slice
_TRIES = 3


class Watch:
    """What share of a block's time was stolen, as ``share`` of 0 to 1."""

    def __enter__(self):
        self.share = 0.0
        self._busy, self._stolen = spent(_STAT.read_text())
        self._start = time.monotonic()
        return self

    def __exit__(self, *_):
        took = time.monotonic() - self._start
        busy, stolen = spent(_STAT.read_text())
        self.share = share(busy - self._busy, stolen - self._stolen, took)


def spent(text):
    """Processor seconds since the boot, of all processors.

    :param text: what /proc/stat says
    :returns: (seconds that were used, seconds that were stolen)
    """
    user, nice, system, _, _, irq, softirq, stolen = (
        int(word) * _TICK for word in text.split()[1:9]
    )
    return user + nice + system + irq + softirq, stolen


def share(busy, stolen, took):
    """The share of a time by which stolen processors made it longer.

    :param busy: processor seconds used
    :param stolen: processor seconds stolen
    :param took: seconds
    """
    # Those that were wanted on average waited alike; one was wanted at least,
    # if only to wait for an answer.
    return stolen / max(busy + stolen, took, _TICK)


def calm(measure, *arguments):
    """Measure a slice of time, again if much of it was stolen; a few times.

    :param measure: function that returns a dict, or raises an error, such as
        that nothing was answered in time
    :returns: what it gave when the least was stolen, with that share as
        ``steal``
    """
    found = []
    for left in reversed(range(_TRIES)):
        watch = Watch()
        try:
            with watch:
                one = measure(*arguments)
            found.append({**one, 'steal': round(watch.share, 3)})
        except errors.Error:
            if watch.share <= _MUCH or not (left or found):
                raise
        if watch.share <= _MUCH:
            break
    return min(found, key=lambda one: one['steal'])
