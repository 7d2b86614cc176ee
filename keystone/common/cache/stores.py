# SPDX-License-Identifier: Apache-2.0

"""Access to cached values as bytes, independent of the backend.

dogpile.cache reads values one by one, ignores the results of writes, and does
not support compare and swap. The classes here support all three, with a public
client of the same servers: pymemcache, redis-py, or the backend itself.
"""

from collections.abc import Sequence
import math
import pickle  # nosec B403
import threading
import time
from typing import Any
import weakref

from dogpile.cache import api
from dogpile.cache.backends import memory
from dogpile.cache.backends import redis
from dogpile.cache import proxy
from dogpile.cache import region as dogpile_region
from oslo_cache.backends import dictionary
from oslo_utils import importutils

from keystone.common import after_fork
from keystone.common import circuit_breaker
from keystone.common import memcached_servers

Unavailable = circuit_breaker.Unavailable

_IN_PROCESS = memory.MemoryBackend, dictionary.DictCacheBackend

# Seconds between two removals of expired values in a process.
_SWEEP = 30

# Replaces a value in Redis if it has not changed since it was read.
_COMPARE_AND_SET = """
if redis.call('get', KEYS[1]) ~= ARGV[1] then return 0 end
if ARGV[3] == '0' then redis.call('set', KEYS[1], ARGV[2])
else redis.call('set', KEYS[1], ARGV[2], 'ex', ARGV[3]) end
return 1
"""


class Store:
    """The values of one backend, accessed with its own methods. Thread-safe.

    All methods raise :class:`Unavailable` if the servers fail. ``seconds`` is
    the whole number of seconds after which a value expires, 0 for never. Here,
    compare and swap only works between the threads of this process, and expiry
    is up to the backend.

    :cvar makes_leases: whether compare and swap works across processes
    :ivar is_direct: whether no proxies of the operator change the values
    """

    makes_leases = False

    def __init__(self, backend: Any) -> None:
        self._backend = backend
        self.is_direct = not isinstance(backend, proxy.ProxyBackend)
        self._is_of_bytes = isinstance(actual(backend), api.BytesBackend)
        self._ask = circuit_breaker.CircuitBreaker().call
        after_fork.call_now_and_after_fork(self._reset)

    def _reset(self) -> None:
        self._lock = threading.RLock()

    def get_many(self, keys: Sequence[str]) -> list[bytes | None]:
        """Read values in one round trip per server.

        :returns: stored values, None for missing ones
        """
        method = 'get_serialized' if self._is_of_bytes else 'get'
        if self.is_direct:
            found = self._ask(getattr(self._backend, f'{method}_multi'), keys)
        else:
            # Some proxies only have the method that stock uses.
            get = getattr(self._backend, method)
            found = [self._ask(get, key) for key in keys]
        return list(map(_encoded, found))

    def add(self, key: str, stored: bytes, seconds: int) -> bool:
        """Store a value if the key does not exist."""
        return self.replace(key, None, stored, seconds)

    def replace(
        self, key: str, old: bytes | None, stored: bytes, seconds: int
    ) -> bool:
        """Store a value if the old one is unchanged, or still missing."""
        with self._lock:
            if self.get_many([key]) != [old]:
                return False
            self.set(key, stored, seconds)
            return True

    def set(self, key: str, stored: bytes, seconds: int) -> None:
        """Store a value."""
        # Stock Keystone stores the same values: bytes, or objects.
        with self._lock:
            if self._is_of_bytes:
                self._ask(self._backend.set_serialized, key, stored)
            else:
                value = pickle.loads(stored)  # nosec B301
                self._ask(self._backend.set, key, value)

    def delete(self, *keys: str, copies_of: Sequence[str] = ()) -> None:
        """Delete values, from all servers, in one round trip to each.

        :param copies_of: keys whose values are deleted as well, except from
            their own servers
        :raises Unavailable: a server fails; from others, they were deleted
        """
        with self._lock:
            for key in keys:
                self._ask(self._backend.delete, key)


def _encoded(value: Any) -> bytes | None:
    """What a backend returns, as bytes; None if it is missing."""
    if value is api.NO_VALUE:
        return None
    return value if isinstance(value, bytes) else pickle.dumps(value)


class ProcessStore(Store):
    """Values in a dictionary of this process, with expiry."""

    makes_leases = True

    def __init__(self, backend: Any) -> None:
        super().__init__(backend)
        self._clock = time.monotonic
        self._expires: dict[str, float] = {}
        self._next_sweep = self._clock()

    def get_many(self, keys: Sequence[str]) -> list[bytes | None]:
        with self._lock:
            self._expire(keys)
            return super().get_many(keys)

    def set(self, key: str, stored: bytes, seconds: int) -> None:
        now = self._clock()
        with self._lock:
            self._ask(self._backend.set, key, stored)
            self._expires[key] = now + seconds if seconds else math.inf
            if now >= self._next_sweep:
                self._next_sweep = now + _SWEEP
                self._expire(list(self._expires))

    def delete(self, *keys: str, copies_of: Sequence[str] = ()) -> None:
        with self._lock:
            for key in keys:
                self._expires.pop(key, None)
            super().delete(*keys)

    def _expire(self, keys: Sequence[str]) -> None:
        now = self._clock()
        for key in keys:
            if self._expires.get(key, now) < now:
                self.delete(key)


class MemcachedStore(Store):
    """Values in memcached, distributed to the servers as by each client.

    While a server is bypassed, others have its keys. Processes may disagree
    about that, so the values of a key are deleted from all servers.
    """

    makes_leases = True

    def __init__(self, backend: Any) -> None:
        self._servers_of = memcached_servers.ring(backend)
        super().__init__(backend)

    def _reset(self) -> None:
        self._servers = memcached_servers.connect(self._backend)

    def _server_of(self, key: str) -> memcached_servers.Server:
        return memcached_servers.first(self._servers, self._servers_of(key))

    def get_many(self, keys: Sequence[str]) -> list[bytes | None]:
        found = memcached_servers.read(self._servers, self._servers_of, keys)
        return [found.get(key) for key in keys]

    def replace(
        self, key: str, old: bytes | None, stored: bytes, seconds: int
    ) -> bool:
        server, until = self._server_of(key), memcached_servers.expiry(seconds)
        if old is None:
            return server.run('add', key, stored, until)
        found, version = server.run('gets', key)
        return found == old and bool(
            server.run('cas', key, stored, version, until)
        )

    def set(self, key: str, stored: bytes, seconds: int) -> None:
        until = memcached_servers.expiry(seconds)
        self._server_of(key).run('set', key, stored, until)

    def delete(self, *keys: str, copies_of: Sequence[str] = ()) -> None:
        own = {key: self._server_of(key) for key in copies_of}
        failed = False
        for server in self._servers.values():
            copies = [key for key, its in own.items() if its is not server]
            try:
                if keys or copies:
                    server.run('delete_many', [*keys, *copies])
            except Unavailable:
                failed = True
        if failed:
            raise Unavailable()


class RedisStore(Store):
    """Values in Redis or Valkey, accessed with the client of the backend."""

    makes_leases = True

    def __init__(self, backend: Any) -> None:
        super().__init__(backend)
        refusal = importutils.import_module('redis.exceptions').ResponseError
        self._ask = circuit_breaker.CircuitBreaker(
            is_refusal=lambda kind: issubclass(kind, refusal)
        ).call
        # With Sentinel, the reader's server is a replica, which may be behind.
        self._client = backend.writer_client
        # By default, newer clients repeat any command for seconds, also a
        # write that may have been executed.
        retry = self._client.get_retry()
        if hasattr(retry, 'update_retries'):
            retry.update_retries(0)

    def get_many(self, keys: Sequence[str]) -> list[bytes | None]:
        return self._ask(self._client.mget, keys)

    def replace(
        self, key: str, old: bytes | None, stored: bytes, seconds: int
    ) -> bool:
        if old is None:
            new = {'ex': seconds or None, 'nx': True}
            return bool(self._ask(self._client.set, key, stored, **new))
        values = (key, old, stored, seconds)
        return bool(self._ask(self._client.eval, _COMPARE_AND_SET, 1, *values))

    def set(self, key: str, stored: bytes, seconds: int) -> None:
        self._ask(self._client.set, key, stored, ex=seconds or None)

    def delete(self, *keys: str, copies_of: Sequence[str] = ()) -> None:
        if keys:
            self._ask(self._client.delete, *keys)


_stores: weakref.WeakKeyDictionary = weakref.WeakKeyDictionary()


def actual(backend: Any) -> Any:
    """A backend without proxies."""
    while isinstance(backend, proxy.ProxyBackend):
        backend = backend.proxied
    return backend


def of(region: dogpile_region.CacheRegion) -> Store:
    """The store of a configured region's backend."""
    # Not actual_backend, which does not change on reconfiguration.
    backend = region.backend
    while type(backend).__module__.startswith('keystone.common.cache.'):
        backend = backend.proxied
    # Proxies of the operator belong to it, unless nothing leaves the process.
    if isinstance(actual(backend), _IN_PROCESS):
        backend = actual(backend)
    if backend not in _stores:
        _stores[backend] = _kind_of(backend)(backend)
    return _stores[backend]


def _kind_of(backend: Any) -> type[Store]:
    if isinstance(backend, _IN_PROCESS):
        return ProcessStore
    if isinstance(backend, redis.RedisBackend):
        return RedisStore
    if memcached_servers.can_connect(backend):
        return MemcachedStore
    return Store
