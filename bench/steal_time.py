# SPDX-License-Identifier: Apache-2.0

"""CPU time that the host of a virtual machine uses for something else.

The kernel counts it as steal, see proc_stat(5): a task was ready to run in the
virtual machine while the host ran something else. It comes in bursts, from
nothing to nearly all within seconds, and would affect only one side of a
comparison. A time slice with much steal time is measured again.
"""

import os
import pathlib
import time

from patchset import errors

_STAT = pathlib.Path('/proc/stat')
_TICK = 1 / os.sysconf('SC_CLK_TCK')  # seconds
_LIMIT = 0.05  # share of a time slice
_ATTEMPTS = 3


class Meter:
    """Measures the steal time of a block, as ``share`` from 0 to 1."""

    def __enter__(self):
        self.share = 0.0
        self._used, self._stolen = cpu_seconds(_STAT.read_text())
        self._start = time.monotonic()
        return self

    def __exit__(self, *_):
        elapsed = time.monotonic() - self._start
        used, stolen = cpu_seconds(_STAT.read_text())
        self.share = share(used - self._used, stolen - self._stolen, elapsed)


def cpu_seconds(text):
    """CPU time of all processors since the boot.

    :param text: content of /proc/stat
    :returns: (seconds that were used, seconds that were stolen)
    """
    user, nice, system, _, _, irq, softirq, stolen = (
        int(word) * _TICK for word in text.split()[1:9]
    )
    return user + nice + system + irq + softirq, stolen


def share(used, stolen, elapsed):
    """The share of the elapsed time that is due to stolen CPU time.

    :param used: CPU seconds used
    :param stolen: CPU seconds stolen
    :param elapsed: seconds
    """
    # All processors that were needed on average waited alike. At least one
    # was needed, if only to wait for a response.
    return stolen / max(used + stolen, elapsed, _TICK)


def measure_undisturbed(measure, *arguments):
    """Measure a time slice, and repeat it a few times if much was stolen.

    :param measure: function that returns a dict, or raises an error, for
        example because there was no response in time
    :returns: the result with the least steal time, with its share as ``steal``
    """
    results = []
    for remaining in reversed(range(_ATTEMPTS)):
        meter = Meter()
        try:
            with meter:
                result = measure(*arguments)
            results.append({**result, 'steal': round(meter.share, 3)})
        except errors.Error:
            if meter.share <= _LIMIT or not (remaining or results):
                raise
        if meter.share <= _LIMIT:
            break
    return min(results, key=lambda result: result['steal'])
