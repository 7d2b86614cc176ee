# SPDX-License-Identifier: Apache-2.0

"""Access to cached values as bytes, independent of the backend.

dogpile.cache reads values one by one, ignores the results of writes, and does
not support compare and swap. The classes here support all three, with a public
client of the same servers: pymemcache, redis-py, or the backend itself if its
values stay within the process.
"""

import abc
import binascii
from collections.abc import Callable
from collections.abc import Iterable
from collections.abc import Sequence
import pickle  # nosec: the format that each Keystone stores values in
import threading
import time
from typing import Any
import weakref
import zlib

from dogpile.cache import api
from dogpile.cache.backends import memcached
from dogpile.cache.backends import memory
from dogpile.cache.backends import redis
from dogpile.cache import proxy
from dogpile.cache import region as dogpile_region
from oslo_cache.backends import dictionary
from oslo_log import log
from oslo_utils import importutils

from keystone.common import after_fork

LOG = log.getLogger(__name__)

# Only in newer releases of dogpile.cache.
_valkey = importutils.try_import('dogpile.cache.backends.valkey')
# Not required by oslo.cache.
_pymemcache = importutils.try_import('pymemcache.client.base')
_exceptions = importutils.try_import('pymemcache.exceptions')
_rendezvous = importutils.try_import('pymemcache.client.rendezvous')

# Memcached interprets a longer time as a date.
_LONGEST_IN_MEMCACHED = 30 * 24 * 60 * 60

# Flags of a memcached value, the same for all clients of dogpile.cache.
_PICKLED = 1
_COMPRESSED = 8

# Seconds for which failed servers are bypassed.
_REST = 2

# Commands that may be executed twice. A second `add` or `cas` would be refused
# because of the first one, and a second `set` of a region id could restore it,
# with its values, after another process has replaced it.
_REPEATABLE = frozenset(('delete', 'get_many', 'gets'))

# Seconds between two removals of expired values in a process.
_SWEEP = 30

# Replaces a value in Redis if it has not changed since it was read.
_COMPARE_AND_SET = """
if redis.call('get', KEYS[1]) ~= ARGV[1] then return 0 end
if ARGV[3] == '0' then redis.call('set', KEYS[1], ARGV[2])
else redis.call('set', KEYS[1], ARGV[2], 'ex', ARGV[3]) end
return 1
"""


def encode(value: Any) -> bytes:
    """Serialize a value as memcached clients do."""
    return pickle.dumps(value)


def decode(stored: bytes) -> Any:
    """Deserialize a value, as a new object."""
    return pickle.loads(stored)  # nosec: as each Keystone does


class Unavailable(Exception):
    """The servers are unreachable, or bypassed after a failure."""


class Store(abc.ABC):
    """The values of one backend. Thread-safe.

    All methods raise :class:`Unavailable` if the servers fail. ``seconds`` is
    the whole number of seconds after which a value expires, 0 for never.

    :cvar makes_leases: whether compare and swap works across processes
    """

    makes_leases = True

    @abc.abstractmethod
    def get_many(self, keys: Sequence[str]) -> list[bytes | None]:
        """Read values in one round trip per server.

        :returns: stored values, None for missing ones
        """

    @abc.abstractmethod
    def add(self, key: str, stored: bytes, seconds: int) -> bool:
        """Store a value if the key does not exist."""

    @abc.abstractmethod
    def replace(
        self, key: str, old: bytes | None, stored: bytes, seconds: int
    ) -> bool:
        """Store a value if the old one is unchanged."""

    @abc.abstractmethod
    def set(self, key: str, stored: bytes, seconds: int) -> None:
        """Store a value."""

    @abc.abstractmethod
    def delete(self, key: str) -> None:
        """Delete a value if it exists."""


class CircuitBreaker:
    """Circuit breaker: bypasses servers for a while after a failure.

    :param clock: callable, returns monotonic seconds
    :param refusals: errors returned by a working server
    """

    def __init__(
        self,
        clock: Callable[[], float] = time.monotonic,
        refusals: tuple[type[Exception], ...] = (),
    ) -> None:
        self._clock = clock
        self._refusals = refusals
        self._rests_until = clock()

    def call(self, function: Callable[..., Any], *args: Any) -> Any:
        """Call a function that uses the servers.

        :raises Unavailable: if it fails, or another call failed recently
        """
        if self._clock() < self._rests_until:
            raise Unavailable()
        try:
            return function(*args)
        except Exception as error:
            if type(error) in self._refusals:
                raise Unavailable() from error
            self._rests_until = self._clock() + _REST
            # The error message may contain credentials.
            LOG.warning(
                'Cache error: %(error)s. Bypassing the cache for %(rest)d '
                'seconds.',
                {'error': type(error).__name__, 'rest': _REST},
            )
            raise Unavailable() from error


class _RawBytes:
    """Serializer for pymemcache that passes bytes through."""

    def serialize(self, key: str, value: bytes) -> tuple[bytes, int]:
        return value, _PICKLED

    def deserialize(self, key: str, value: bytes, flags: int) -> bytes:
        return zlib.decompress(value) if flags & _COMPRESSED else value


class _Ring:
    """Selects the server of a key like python-memcached."""

    def __init__(self, names: Iterable[str]) -> None:
        self._names = list(names)

    def get_node(self, key: str) -> str:
        number = binascii.crc32(key.encode()) & 0xFFFFFFFF
        number = (number >> 16) & 0x7FFF or 1
        return self._names[number % len(self._names)]


class MemcachedStore(Store):
    """Values in memcached, accessed with pymemcache.

    :param backend: the configured backend, with any client
    """

    def __init__(self, backend: memcached.GenericMemcachedBackend) -> None:
        self._urls = [url.removeprefix('inet6:') for url in backend.url]
        self._tls = getattr(backend, 'tls_context', None)
        timeout = getattr(backend, 'socket_timeout', None)
        self._timeout = timeout if isinstance(timeout, (int, float)) else 3
        if isinstance(backend, memcached.PyMemcacheBackend):
            names = {_normalized(url): url for url in self._urls}
            ring = _rendezvous.RendezvousHash(names)
            self._server_of = lambda key: names[ring.get_node(key)]
        else:
            self._server_of = _Ring(self._urls).get_node
        after_fork.call_now_too(self._connect)

    def _connect(self) -> None:
        self._clients = {url: self._client(url) for url in self._urls}
        self._breakers = {
            url: CircuitBreaker(
                refusals=(
                    _exceptions.MemcacheServerError,
                    _exceptions.MemcacheClientError,
                    _exceptions.MemcacheIllegalInputError,
                )
            )
            for url in self._urls
        }
        self._only = self._urls[0] if len(self._urls) == 1 else None

    def _client(self, url: str) -> Any:
        return _pymemcache.PooledClient(
            _pymemcache.normalize_server_spec(url),
            serde=_RawBytes(),
            connect_timeout=self._timeout,
            timeout=self._timeout,
            no_delay=True,
            tls_context=self._tls,
            allow_unicode_keys=False,
        )

    def _ask(self, name: str, key: str, *args: Any) -> Any:
        url = self._only or self._server_of(key)
        return self._breakers[url].call(self._run, url, name, key, *args)

    def _run(self, url: str, name: str, *args: Any) -> Any:
        """Execute a command, again if its connection was closed."""
        try:
            return getattr(self._clients[url], name)(*args)
        except (ConnectionError, _exceptions.MemcacheUnexpectedCloseError):
            # A server that is restarted closes all connections of the pool.
            # Those in use by other threads are left to them.
            self._clients[url] = self._client(url)
            if name not in _REPEATABLE:
                raise
        return getattr(self._clients[url], name)(*args)

    def get_many(self, keys: Sequence[str]) -> list[bytes | None]:
        by_server: dict[str, list[str]] = {}
        if self._only:
            by_server[self._only] = list(keys)
        else:
            for key in keys:
                by_server.setdefault(self._server_of(key), []).append(key)
        found: dict[str, Any] = {}
        for url, wanted in by_server.items():
            found.update(
                self._breakers[url].call(self._run, url, 'get_many', wanted)
            )
        return [found.get(key) for key in keys]

    def add(self, key: str, stored: bytes, seconds: int) -> bool:
        return self._ask('add', key, stored, _expiry(seconds), False)

    def replace(
        self, key: str, old: bytes | None, stored: bytes, seconds: int
    ) -> bool:
        found, version = self._ask('gets', key)
        return found == old and bool(
            self._ask('cas', key, stored, version, _expiry(seconds), False)
        )

    def set(self, key: str, stored: bytes, seconds: int) -> None:
        self._ask('set', key, stored, _expiry(seconds), False)

    def delete(self, key: str) -> None:
        self._ask('delete', key, False)


def _normalized(url: str) -> str:
    """The name of a server in the ring of pymemcache's own client."""
    server = _pymemcache.normalize_server_spec(url)
    if isinstance(server, str):
        return server
    host, port = server
    return f'{host}:{port}'


def _expiry(seconds: int) -> int:
    return min(seconds, _LONGEST_IN_MEMCACHED)


class RedisStore(Store):
    """Values in Redis or Valkey, accessed with the backend's clients."""

    def __init__(self, backend: Any) -> None:
        # With Sentinel, the reader's server is a replica, which may be behind.
        self._client = backend.writer_client
        self._breaker = CircuitBreaker()
        # By default, newer clients repeat any command for seconds, also a
        # write that may have been executed.
        retry = self._client.get_retry()
        if hasattr(retry, 'update_retries'):
            retry.update_retries(0)

    def get_many(self, keys: Sequence[str]) -> list[bytes | None]:
        return self._breaker.call(self._client.mget, keys)

    def _set(self, key: str, stored: bytes, seconds: int, is_new: bool) -> Any:
        return self._client.set(key, stored, ex=seconds or None, nx=is_new)

    def add(self, key: str, stored: bytes, seconds: int) -> bool:
        return bool(self._breaker.call(self._set, key, stored, seconds, True))

    def replace(
        self, key: str, old: bytes | None, stored: bytes, seconds: int
    ) -> bool:
        return bool(
            self._breaker.call(
                self._client.eval,
                _COMPARE_AND_SET, 1, key, old, stored, str(seconds),
            )
        )  # fmt: skip

    def set(self, key: str, stored: bytes, seconds: int) -> None:
        self._breaker.call(self._set, key, stored, seconds, False)

    def delete(self, key: str) -> None:
        self._breaker.call(self._client.delete, key)


class BackendStore(Store):
    """Values in any other backend, as objects, using its own methods.

    Compare and swap only works between the threads of this process.

    :param backend: the configured backend
    """

    makes_leases = False

    # Stock Keystone reads and writes the same values.
    _encode = staticmethod(encode)
    _decode = staticmethod(decode)

    def __init__(self, backend: api.CacheBackend) -> None:
        self._backend = backend
        self._is_of_bytes = isinstance(backend, api.BytesBackend)
        if self._is_of_bytes:
            self._encode = self._decode = bytes
        self._breaker = CircuitBreaker()
        after_fork.call_now_too(self._new_lock)

    def _new_lock(self) -> None:
        self._lock = threading.RLock()

    def get_many(self, keys: Sequence[str]) -> list[bytes | None]:
        backend = self._backend
        get_multi = (
            backend.get_serialized_multi
            if self._is_of_bytes
            else backend.get_multi
        )
        found = self._breaker.call(get_multi, keys)
        return [
            None if one is api.NO_VALUE else self._encode(one) for one in found
        ]

    def add(self, key: str, stored: bytes, seconds: int) -> bool:
        return self.replace(key, None, stored, seconds)

    def replace(
        self, key: str, old: bytes | None, stored: bytes, seconds: int
    ) -> bool:
        with self._lock:
            if self.get_many([key]) != [old]:
                return False
            self.set(key, stored, seconds)
            return True

    def set(self, key: str, stored: bytes, seconds: int) -> None:
        backend = self._backend
        set_ = backend.set_serialized if self._is_of_bytes else backend.set
        with self._lock:
            self._breaker.call(set_, key, self._decode(stored))

    def delete(self, key: str) -> None:
        with self._lock:
            self._breaker.call(self._backend.delete, key)


class ProcessStore(BackendStore):
    """Values in a dictionary of this process, with expiry."""

    makes_leases = True

    _decode = staticmethod(bytes)

    @staticmethod
    def _encode(stored: Any) -> bytes:
        return stored if isinstance(stored, bytes) else encode(stored)

    def __init__(self, backend: api.CacheBackend) -> None:
        super().__init__(backend)
        self._clock = time.monotonic
        self._expires: dict[str, float] = {}
        self._next_sweep = self._clock()

    def get_many(self, keys: Sequence[str]) -> list[bytes | None]:
        now = self._clock()
        with self._lock:
            for key in keys:
                if self._expires.get(key, now) < now:
                    self.delete(key)
            return super().get_many(keys)

    def set(self, key: str, stored: bytes, seconds: int) -> None:
        now = self._clock()
        with self._lock:
            super().set(key, stored, seconds)
            self._expires.pop(key, None)
            if seconds:
                self._expires[key] = now + seconds
            if now >= self._next_sweep:
                self._next_sweep = now + _SWEEP
                for other, until in list(self._expires.items()):
                    if until < now:
                        self.delete(other)

    def delete(self, key: str) -> None:
        with self._lock:
            self._expires.pop(key, None)
            super().delete(key)


_stores: weakref.WeakKeyDictionary = weakref.WeakKeyDictionary()


def of(region: dogpile_region.CacheRegion) -> Store:
    """The store of a configured region's backend."""
    # Not actual_backend, which does not change on reconfiguration.
    backend = region.backend
    while isinstance(backend, proxy.ProxyBackend):
        backend = backend.proxied
    if backend not in _stores:
        _stores[backend] = _make(backend)
    return _stores[backend]


def _make(backend: api.CacheBackend) -> Store:
    if isinstance(
        backend, (memory.MemoryBackend, dictionary.DictCacheBackend)
    ):
        return ProcessStore(backend)
    if isinstance(backend, redis.RedisBackend) or (
        _valkey and isinstance(backend, _valkey.ValkeyBackend)
    ):
        return RedisStore(backend)
    if (
        _pymemcache
        and isinstance(
            backend, (memcached.PyMemcacheBackend, memcached.MemcachedBackend)
        )
        and not _speaks_binary(backend)
    ):
        return MemcachedStore(backend)
    return BackendStore(backend)


def _speaks_binary(backend: Any) -> bool:
    # oslo_cache.memcache_pool with SASL or TLS uses a protocol that
    # pymemcache does not support.
    pool = getattr(backend, 'client_pool', None)
    return type(pool).__name__.startswith('BMemcache')
