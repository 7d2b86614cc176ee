# SPDX-License-Identifier: Apache-2.0

"""CPU time that the host of a virtual machine uses for something else.

The kernel counts it as steal, see proc_stat(5): a task was ready to run in the
virtual machine while the host ran something else. It comes in bursts, from
nothing to nearly all within seconds, and would affect only one side of a
comparison. Rates are therefore relative to the time in which this machine ran.
"""

import dataclasses
import functools
import os
import pathlib
import time

_STAT = pathlib.Path('/proc/stat')
_TICK = 1 / os.sysconf('SC_CLK_TCK')  # seconds
_MOST = 0.99  # a rate is divided by what is left
_TRIES = 5


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
    :returns: a number of 0 to 0.99
    """
    # Those that were wanted on average waited alike; one was wanted at least,
    # if only to wait for an answer.
    return min(stolen / max(busy + stolen, took, _TICK), _MOST)


def excluded(again=()):
    """Have a function's rates leave stolen time out.

    What it decorates returns a dataclass with ``rate`` and ``steal``.

    :param again: errors after which it is called again, a few times: nothing
        is answered while everything is stolen
    """

    def decorate(function):
        @functools.wraps(function)
        def measured(*args, **kwargs):
            for number in range(_TRIES):
                try:
                    with Watch() as watch:
                        found = function(*args, **kwargs)
                    break
                except again:
                    if number == _TRIES - 1:
                        raise
            return dataclasses.replace(
                found,
                rate=float(f'{found.rate / (1 - watch.share):.6g}'),
                steal=round(watch.share, 3),
            )

        return measured

    return decorate
