# SPDX-License-Identifier: Apache-2.0

"""Counters of cache usage per request.

Nothing is counted unless ``[cache_counters] enabled`` is true when the process
starts.
"""

import collections
import threading

# Lookups by a request, those that are not in the backend either, and requests
# to the backend.
LOOKUPS = 'lookups'
MISSES = 'misses'
ROUND_TRIPS = 'round_trips'

#: Gauges, which are not summed: sizes of an in-process cache.
MEASURES = frozenset(('entries', 'bytes', 'shared'))

_of_thread = threading.local()


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


def is_counting():
    """Whether counting is active in this thread."""
    return getattr(_of_thread, 'counted', None) is not None


def begin():
    """Start counting for the request of this thread."""
    _of_thread.counted = collections.Counter()


def end():
    """Stop counting.

    :returns: {(name of a cache, name of a counter): number} since the start
    """
    counted = getattr(_of_thread, 'counted', None) or {}
    _of_thread.counted = None
    return dict(counted)
