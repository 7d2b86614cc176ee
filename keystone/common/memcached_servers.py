# SPDX-License-Identifier: Apache-2.0

"""Connections to the memcached servers of a cache, with pymemcache.

pymemcache reads several values at once, and reports what was not written,
whichever client is configured.
"""

import binascii
from collections.abc import Callable
from collections.abc import Collection
from collections.abc import Iterator
from collections.abc import Sequence
import functools
import re
from typing import Any
import zlib

from dogpile.cache.backends import memcached
from oslo_utils import importutils

from keystone.common import circuit_breaker

# Not required by oslo.cache.
_client = importutils.try_import('pymemcache.client.base')
_exceptions = importutils.try_import('pymemcache.exceptions')
_rendezvous = importutils.try_import('pymemcache.client.rendezvous')

# Seconds. Memcached interprets a longer time as a date.
_LONGEST = 30 * 24 * 60 * 60

# Bytes received at once.
_BUFFER = 65536

# Flags of a value, the same for all clients of dogpile.cache.
_PICKLED = 1
_COMPRESSED = 8

# Commands that may be executed twice. A second `add` or `cas` would be refused
# because of the first one, and a second `set` of a region id could restore it,
# with its values, after another process has replaced it.
_REPEATABLE = frozenset(('delete_many', 'get_many', 'gets'))

# Servers that python-memcached tries for a key, some of them repeatedly.
_ATTEMPTS = 10

# Maximum number of keys whose servers a process remembers.
_REMEMBERED = 10000


def _is_refusal(kind: type[Exception]) -> bool:
    """Whether a working server returns errors of a type."""
    returned = _exceptions.MemcacheServerError, _exceptions.MemcacheClientError
    is_closed = issubclass(kind, _exceptions.MemcacheUnexpectedCloseError)
    return issubclass(kind, returned) and not is_closed


class _RawBytes:
    """Serializer that passes bytes through."""

    def serialize(self, key: str, value: bytes) -> tuple[bytes, int]:
        return value, _PICKLED

    def deserialize(self, key: str, value: bytes, flags: int) -> bytes:
        return _unpacked(value, flags)


class Server:
    """A server, with a pool of connections.

    :ivar breaker: its :class:`.circuit_breaker.CircuitBreaker`
    """

    def __init__(self, url: str, timeout: float, tls: Any) -> None:
        self.breaker = circuit_breaker.CircuitBreaker(
            f'memcached server {url}', is_refusal=_is_refusal
        )
        self._connect = functools.partial(
            _client.PooledClient,
            _address(url),
            serde=_RawBytes(),
            connect_timeout=timeout,
            timeout=timeout,
            no_delay=True,
            default_noreply=False,
            tls_context=tls,
        )
        self._pool = self._connect()

    def run(self, command: str, *args: Any) -> Any:
        """Execute a command, again if its connection was closed.

        :raises keystone.common.circuit_breaker.Unavailable: it fails, or
            another one failed recently
        """
        return self.breaker.call(self._run_again, command, *args)

    def _run_again(self, command: str, *args: Any) -> Any:
        try:
            return self._run(command, *args)
        except (ConnectionError, _exceptions.MemcacheUnexpectedCloseError):
            # A server that is restarted closes all connections of the pool.
            # Those in use by other threads are left to them.
            self._pool = self._connect()
            if command not in _REPEATABLE:
                raise
        return self._run(command, *args)

    def _run(self, command: str, *args: Any) -> Any:
        if command != 'get_many':
            return getattr(self._pool, command)(*args)
        connections = self._pool.client_pool
        with connections.get_and_release(destroy_on_fail=True) as connection:
            return _get_many(connection, *args)


def _get_many(connection: Any, keys: Sequence[str]) -> dict[str, bytes]:
    """Read values like pymemcache, in half of the CPU time.

    An error leaves the connection unusable.

    :param connection: a pymemcache client
    """
    if connection.sock is None:
        return connection.get_many(keys)  # connects first
    command = ' '.join(('get', *keys))
    words = command.split()
    if len(words) != len(keys) + 1 or words != command.split(' '):
        raise _exceptions.MemcacheIllegalInputError('a space in a key')
    connection.sock.sendall(f'{command}\r\n'.encode())
    found: dict[str, bytes] = {}
    response, start = b'', 0
    while True:
        end = response.find(b'\r\n', start)
        if end >= 0:
            line = response[start:end]
            if line == b'END':
                return found
            if not line.startswith(b'VALUE '):
                raise _error(line)
            _, key, flags, size = line.split()
            value = slice(end + 2, end + 2 + int(size))
            if value.stop < value.start:
                raise _error(line)
            if value.stop + 2 <= len(response):
                found[key.decode()] = _unpacked(response[value], int(flags))
                start = value.stop + 2
                continue
        received = connection.sock.recv(_BUFFER)
        if not received:
            raise _exceptions.MemcacheUnexpectedCloseError()
        response, start = response[start:] + received, 0


def _error(line: bytes) -> Exception:
    """The error in a response."""
    kind = _exceptions.MemcacheUnknownError
    if b'ERROR' in line:
        kind = _exceptions.MemcacheServerError
    return kind(line)


def _unpacked(value: bytes, flags: int) -> bytes:
    return zlib.decompress(value) if flags & _COMPRESSED else value


def expiry(seconds: int) -> int:
    """The time after which a value expires, as memcached accepts it."""
    return min(seconds, _LONGEST)


def can_connect(backend: Any) -> bool:
    """Whether the servers of a backend are accessible with pymemcache."""
    kinds = memcached.PyMemcacheBackend, memcached.MemcachedBackend
    if _client is None or not isinstance(backend, kinds):
        return False
    # oslo_cache.memcache_pool with SASL or TLS uses the binary protocol.
    pool = getattr(backend, 'client_pool', None)
    return not type(pool).__name__.startswith('BMemcache')


def connect(backend: Any) -> dict[str, Server]:
    """The servers of a backend, by their configured names."""
    tls = getattr(backend, 'tls_context', None)
    timeout = getattr(backend, 'socket_timeout', None)
    if not isinstance(timeout, (int, float)):
        timeout = 3
    return {url: Server(url, timeout, tls) for url in backend.url}


def ring(backend: Any) -> Callable[[str], tuple[str, ...]]:
    """A function that returns the servers of a key.

    Each server has the key while those before it are unreachable, as with the
    client of the backend.
    """
    urls = tuple(backend.url)
    if len(urls) == 1:
        return lambda _key: urls
    names = {_name(url): url for url in urls}

    def servers(key: str) -> tuple[str, ...]:
        if isinstance(backend, memcached.PyMemcacheBackend):
            return tuple(names[one] for one in _ranked(key, names))
        places = (urls[place % len(urls)] for place in _places(key))
        return tuple(dict.fromkeys(places))

    return functools.lru_cache(_REMEMBERED)(servers)


def _ranked(key: str, names: Collection[str]) -> Iterator[str]:
    """The names of servers in the order in which pymemcache uses them."""
    nodes = _rendezvous.RendezvousHash(list(names))
    while nodes.nodes:
        name = nodes.get_node(key)
        yield name
        nodes.remove_node(name)


def _places(key: str) -> Iterator[int]:
    """The numbers of a key, as python-memcached computes them in turn."""
    place = _hash(key)
    for attempt in range(_ATTEMPTS):
        yield place
        place = _hash(f'{place}{attempt}')


def _hash(text: str) -> int:
    return binascii.crc32(text.encode()) >> 16 & 0x7FFF or 1


def first(servers: dict[str, Server], urls: Sequence[str]) -> Server:
    """The first server that is not bypassed."""
    for url in urls:
        if not servers[url].breaker.is_open:
            return servers[url]
    raise circuit_breaker.Unavailable()


def read(
    servers: dict[str, Server], urls_of: Callable, keys: Sequence[str]
) -> dict[str, bytes]:
    """Read values in one round trip per server, found by :func:`ring`."""

    def by_server() -> dict[Server, list[str]]:
        by_order: dict[tuple[str, ...], list[str]] = {}
        for key in keys:
            by_order.setdefault(urls_of(key), []).append(key)
        grouped: dict[Server, list[str]] = {}
        for urls, ordered in by_order.items():
            grouped.setdefault(first(servers, urls), []).extend(ordered)
        return grouped

    for _ in servers:
        asked, found = by_server(), {}
        try:
            for server, ours in asked.items():
                found.update(server.run('get_many', ours))
            return found
        except circuit_breaker.Unavailable:
            # Others have the keys of a server that has just failed.
            if asked == by_server():
                raise
    raise circuit_breaker.Unavailable()


def _address(url: str) -> Any:
    # python-memcached also accepts the address family.
    return _client.normalize_server_spec(re.sub('^inet6?:', '', url))


def _name(url: str) -> str:
    """The name of a server in the ring of pymemcache."""
    address = _address(url)
    return address if isinstance(address, str) else '{}:{}'.format(*address)
