# SPDX-License-Identifier: Apache-2.0

"""Counters of cache usage per request.

Each thread counts for itself, and only in a block of :func:`counting`.
"""

import collections
import contextlib
import threading

#: Values that were read through the cache.
LOOKUPS = 'lookups'
#: Lookups of values that the cache did not have.
MISSES = 'misses'
#: Requests to the cache server.
ROUND_TRIPS = 'round_trips'

#: Gauges, which are not summed: sizes of an in-process cache.
MEASURES = frozenset(('entries', 'bytes'))

_of_thread = threading.local()
_report = None


def count(cache, what, number=1):
    """Increment a counter, if counting is active in this thread.

    :param cache: name of a cache
    :param what: name of the counter
    """
    counted = getattr(_of_thread, 'counted', None)
    if counted is not None:
        counted[cache, what] += number


def measure(cache, what, value):
    """Set a gauge, if counting is active in this thread.

    :param cache: name of a cache
    :param what: one of :data:`MEASURES`
    """
    counted = getattr(_of_thread, 'counted', None)
    if counted is not None:
        counted[cache, what] = value


def report_to(report):
    """Have :func:`counting` count from now on.

    :param report: callable, receives {(name of a cache, name of a counter):
        number} of each block; None to stop
    """
    global _report
    _report = report


@contextlib.contextmanager
def counting():
    """Count and report what this thread does in the block, if enabled.

    An inner block is counted by the outer one.
    """
    report = _report
    if report is None or getattr(_of_thread, 'counted', None) is not None:
        yield
        return
    counted = _of_thread.counted = collections.Counter()
    try:
        yield
    finally:
        _of_thread.counted = None
        report(dict(counted))
