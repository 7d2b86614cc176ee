# Licensed under the Apache License, Version 2.0 (the "License"); you may
# not use this file except in compliance with the License. You may obtain
# a copy of the License at
#
#      http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the
# License for the specific language governing permissions and limitations
# under the License.

"""How each cache backend is told when a value expires.

dogpile.cache gives a backend one expiry for all values, or none, and drops
what the server answers. The proxies here stand right in front of a backend and
write in its place, each value with an expiry of its own; what they return says
whether the backend took the write.
"""

import heapq
import threading
import time

from dogpile.cache import api
from dogpile.cache.backends import memcached
from dogpile.cache.backends import memory
from dogpile.cache.backends import redis
from dogpile.cache import proxy
from oslo_cache.backends import dictionary
from oslo_utils import importutils

# Of newer releases of dogpile.cache.
valkey = importutils.try_import('dogpile.cache.backends.valkey')

# Memcached takes a longer time for a date, and one long ago at that.
LONGEST_IN_MEMCACHED = 30 * 24 * 60 * 60

# Memcached takes an item with this time, and gives it to nobody.
_AT_ONCE = -1


class Writes(proxy.ProxyBackend):
    """Writes to a backend that cannot be told when a value expires.

    :param seconds: callable, takes a key and returns the seconds after which
        its value expires, an int of at least 1, or None for no expiry
    """

    def __init__(self, seconds):
        super().__init__()
        self._seconds = seconds

    def set(self, key, value):
        """Store a value.

        :returns: False if the backend said that it did not
        """
        self.proxied.set(key, value)
        return True

    def set_serialized(self, key, value):
        self.proxied.set_serialized(key, value)
        return True

    def delete(self, key):
        """Drop a value.

        :returns: False if the backend may still have it
        """
        self.proxied.delete(key)
        return True

    def _least(self, key, configured):
        """Seconds of a key, within the expiry that the operator has set."""
        limits = [limit for limit in (self._seconds(key), configured) if limit]
        return min(limits, default=None)


class MemcachedWrites(Writes):
    """Writes through any client of memcached that dogpile.cache knows."""

    # Name of the argument of the client's set().
    _argument = 'time'

    def set(self, key, value):
        arguments = self._arguments(key)
        return bool(self.proxied.client.set(key, value, **arguments))

    def set_serialized(self, key, value):
        return self.set(key, value)

    def set_multi(self, mapping):
        by_time = {}
        for key, value in mapping.items():
            arguments = self._arguments(key)
            expiry = arguments.get(self._argument)
            by_time.setdefault(expiry, (arguments, {}))[1][key] = value
        for arguments, values in by_time.values():
            self.proxied.client.set_multi(values, **arguments)

    def set_serialized_multi(self, mapping):
        self.set_multi(mapping)

    def _arguments(self, key):
        arguments = dict(self.proxied.set_arguments)
        seconds = self._least(key, arguments.get(self._argument))
        if seconds:
            arguments[self._argument] = min(seconds, LONGEST_IN_MEMCACHED)
        return arguments


class TextMemcachedWrites(MemcachedWrites):
    """Writes through python-memcached, pooled or not."""

    def delete(self, key):
        # The answer to a delete does not tell a missing key from a missing
        # server. The answer to this does.
        return bool(
            self.proxied.client.set(key, b'', **{self._argument: _AT_ONCE})
        )


class PyMemcacheWrites(TextMemcachedWrites):
    """Writes through pymemcache."""

    _argument = 'expire'


class RedisWrites(Writes):
    """Writes to Redis. A failure is an exception."""

    # Name of the backend's attribute with the operator's expiry.
    _configured = 'redis_expiration_time'

    def set_serialized(self, key, value):
        self._put(self.proxied.writer_client, key, value)
        return True

    def set_serialized_multi(self, mapping):
        pipeline = self.proxied.writer_client.pipeline()
        for key, value in mapping.items():
            self._put(pipeline, key, value)
        pipeline.execute()

    def _put(self, client, key, value):
        configured = getattr(self.proxied, self._configured)
        client.set(key, value, ex=self._least(key, configured))


class ValkeyWrites(RedisWrites):
    """Writes to Valkey."""

    _configured = 'valkey_expiration_time'


class InProcessWrites(Writes):
    """Writes to a dictionary, and takes from it what has expired.

    :param seconds: see :class:`Writes`
    :param clock: callable, returns seconds that never go back
    """

    def __init__(self, seconds, clock=time.monotonic):
        super().__init__(seconds)
        self._clock = clock
        self._expires = {}
        self._queue = []
        self._lock = threading.Lock()

    def get(self, key):
        return self._unexpired(key, self.proxied.get)

    def get_serialized(self, key):
        return self._unexpired(key, self.proxied.get_serialized)

    def get_multi(self, keys):
        return [self.get(key) for key in keys]

    def get_serialized_multi(self, keys):
        return [self.get_serialized(key) for key in keys]

    def set(self, key, value):
        self._note(key)
        return super().set(key, value)

    def set_serialized(self, key, value):
        self._note(key)
        return super().set_serialized(key, value)

    def set_multi(self, mapping):
        for key in mapping:
            self._note(key)
        self.proxied.set_multi(mapping)

    def set_serialized_multi(self, mapping):
        for key in mapping:
            self._note(key)
        self.proxied.set_serialized_multi(mapping)

    def _unexpired(self, key, get):
        expires = self._expires.get(key)
        if expires is not None and self._clock() >= expires:
            return api.NO_VALUE
        return get(key)

    def _note(self, key):
        now = self._clock()
        seconds = self._seconds(key)
        with self._lock:
            self._expires.pop(key, None)
            if seconds:
                self._expires[key] = now + seconds
                heapq.heappush(self._queue, (now + seconds, key))
            while self._queue and self._queue[0][0] <= now:
                expires, old = heapq.heappop(self._queue)
                # It may have been written again since.
                if self._expires.get(old) == expires:
                    del self._expires[old]
                    self.proxied.delete(old)


# The first that fits: a class of backends, and who writes to it.
_BY_BACKEND = (
    (memcached.PyMemcacheBackend, PyMemcacheWrites),
    (memcached.MemcachedBackend, TextMemcachedWrites),
    (memcached.GenericMemcachedBackend, MemcachedWrites),
    (redis.RedisBackend, RedisWrites),
    (memory.MemoryBackend, InProcessWrites),
    (dictionary.DictCacheBackend, InProcessWrites),
)
if valkey:
    _BY_BACKEND += ((valkey.ValkeyBackend, ValkeyWrites),)


def kind_of(backend):
    """Which of the classes here writes to a backend.

    :param backend: a :class:`dogpile.cache.api.CacheBackend`
    :returns: a class, :class:`Writes` for a backend unknown here
    """
    if _speaks_binary(backend):
        return MemcachedWrites
    for backends, kind in _BY_BACKEND:
        if isinstance(backend, backends):
            return kind
    return Writes


def _speaks_binary(backend):
    # oslo_cache.memcache_pool with SASL or TLS: another client library, which
    # has no time that lies in the past.
    pool = getattr(backend, 'client_pool', None)
    return type(pool).__name__.startswith('BMemcache')


def layers(region):
    """The proxies of a region, from the outermost, and its backend.

    :param region: a configured :class:`dogpile.cache.region.CacheRegion`
    """
    found = [region.backend]
    while isinstance(found[-1], proxy.ProxyBackend):
        found.append(found[-1].proxied)
    return found


def insert(region, new, inner):
    """Put a proxy right in front of one of a region's layers.

    :param region: see :func:`layers`
    :param new: the proxy
    :param inner: the layer
    """
    before = None
    for layer in layers(region):
        if layer is inner:
            break
        before = layer
    new.wrap(inner)
    if before is None:
        region.backend = new
    else:
        before.proxied = new


def writes_of(region, seconds):
    """Write to a region's backend through one of the classes here.

    :param region: see :func:`layers`
    :param seconds: see :class:`Writes`
    :returns: the proxy that does so, put in front of the backend
    """
    backend = layers(region)[-1]
    writes = kind_of(backend)(seconds)
    insert(region, writes, backend)
    return writes
