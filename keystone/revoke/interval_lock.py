# SPDX-License-Identifier: Apache-2.0

"""Interval lock: one process of a cloud per interval."""

import math
import time

from oslo_log import log

from keystone.common import cache
from keystone.common.cache import counters
from keystone.common.cache import shared
import keystone.conf

CONF = keystone.conf.CONF
LOG = log.getLogger(__name__)

# Memcached interprets a longer time as a date.
_LONGEST = 30 * 24 * 60 * 60


class IntervalLock:
    """A lock that one process acquires per interval.

    If processes share a cache, one of them sets a key there that expires with
    the interval. Without a shared cache, or while it fails, each process
    acquires the lock once per interval.

    :param name: name of the key, and in the counters of requests
    :param clock: callable, returns monotonic seconds
    """

    def __init__(self, name, clock=time.monotonic):
        self._name = name
        self._key = f'keystone.{name}'
        self._clock = clock
        self._next = -math.inf

    def acquire(self, interval):
        """Try to acquire the lock.

        A process accesses the shared cache once per interval.

        :param interval: seconds, at least 1
        :returns: bool
        """
        now = self._clock()
        if now < self._next:
            return False
        self._next = now + interval
        if self._is_first(interval):
            return True
        counters.count(self._name, 'skipped')
        return False

    def _is_first(self, interval):
        if not CONF.cache.enabled:
            return True
        seconds = min(interval, _LONGEST)
        try:
            backend = cache.CACHE_INVALIDATION_REGION.actual_backend
            if CONF.cache.backend in shared.MEMCACHED:
                # The key is also missing if the server is down.
                return (
                    bool(backend.client.add(self._key, 'taken', seconds))
                    or backend.client.get(self._key) is None
                )
            if CONF.cache.backend in shared.REDIS:
                take = backend.writer_client.set
                return bool(take(self._key, 'taken', nx=True, ex=seconds))
        except Exception as error:
            LOG.debug('Failed to acquire %s: %s', self._key, error)
        return True
