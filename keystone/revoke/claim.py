# SPDX-License-Identifier: Apache-2.0

"""Something that one process of a cloud is to do once in a while."""

import threading
import time

from oslo_log import log

from keystone.common import cache
import keystone.conf

CONF = keystone.conf.CONF
LOG = log.getLogger(__name__)

# Backends of a shared cache that can set what is not set yet, in one step.
_MEMCACHED = frozenset(
    (
        'dogpile.cache.bmemcached',
        'dogpile.cache.memcached',
        'dogpile.cache.pylibmc',
        'dogpile.cache.pymemcache',
        'oslo_cache.memcache_pool',
    )
)
_REDIS = frozenset(
    (
        'dogpile.cache.redis',
        'dogpile.cache.redis_sentinel',
        'dogpile.cache.valkey',
        'dogpile.cache.valkey_sentinel',
    )
)

# Memcached takes a longer time for a date.
_LONGEST = 30 * 24 * 60 * 60


class Claim:
    """The right to do something, for one process in each interval.

    Where processes share a cache, one of them sets a key there that expires
    with the interval. Without such a cache, and while it fails, each process
    has the right once in an interval.

    :param name: names the key
    :param clock: callable, returns seconds that never go back
    """

    def __init__(self, name, clock=time.monotonic):
        self._key = f'keystone.{name}'
        self._clock = clock
        self._next = None
        self._lock = threading.Lock()

    def is_won(self, interval):
        """Tell whether this process has the right now.

        A process looks into the shared cache once in an interval.

        :param interval: seconds, at least 1
        :returns: bool
        """
        return self._is_due(interval) and self._is_first(interval)

    def _is_due(self, interval):
        # Never wait: in a forked process nobody might release it.
        if not self._lock.acquire(blocking=False):
            return False
        try:
            now = self._clock()
            if self._next is not None and now < self._next:
                return False
            self._next = now + interval
            return True
        finally:
            self._lock.release()

    def _is_first(self, interval):
        region = cache.CACHE_INVALIDATION_REGION
        if not CONF.cache.enabled or not region.is_configured:
            return True
        try:
            return self._add(region.actual_backend, min(interval, _LONGEST))
        except Exception as error:
            LOG.debug('Failed to acquire %s: %s', self._key, error)
            return True

    def _add(self, backend, seconds):
        if CONF.cache.backend in _MEMCACHED:
            client = backend.client
            # A server that is down has no such key either.
            return (
                bool(client.add(self._key, 'taken', seconds))
                or client.get(self._key) is None
            )
        if CONF.cache.backend in _REDIS:
            client = backend.writer_client
            return bool(client.set(self._key, 'taken', nx=True, ex=seconds))
        return True
