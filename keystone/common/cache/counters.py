# SPDX-License-Identifier: Apache-2.0

"""How much the requests use each cache.

Nothing is counted unless ``[cache_counters] enabled`` is on when the process
starts.
"""

import collections
import threading

# What a request asks of a region, what of that not even the backend has, and
# how often the backend is asked.
LOOKUPS = 'lookups'
MISSES = 'misses'
ROUND_TRIPS = 'round_trips'

#: What is told as it is, and not added up: sizes of a cache of this process.
MEASURES = frozenset(('entries', 'bytes', 'shared'))

_of_thread = threading.local()


def count(cache, what, number=1):
    """Count something, if this thread works on a request that is counted.

    :param cache: name of a cache
    :param what: name of the counter
    """
    counted = getattr(_of_thread, 'counted', None)
    if counted is not None:
        counted[cache, what] += number


def measure(cache, what, value):
    """Tell how much there is of something, if the request is counted.

    :param cache: name of a cache
    :param what: one of :data:`MEASURES`
    """
    counted = getattr(_of_thread, 'counted', None)
    if counted is not None:
        counted[cache, what] = value


def is_counting():
    """Whether this thread works on a request that is counted."""
    return getattr(_of_thread, 'counted', None) is not None


def begin():
    """Begin to count, for the request that this thread works on."""
    _of_thread.counted = collections.Counter()


def end():
    """Count no more.

    :returns: {(name of a cache, name of a counter): number} since the begin
    """
    counted = getattr(_of_thread, 'counted', None) or {}
    _of_thread.counted = None
    return dict(counted)
