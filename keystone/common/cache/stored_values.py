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

"""Values as the servers of a cache hold them.

Reading ten ids with python-memcached takes ten times as long as the network
and memcached do: it looks at each byte of the keys, and makes an object of
each value. Whether the values are what they were can be told from their bytes,
and mostly from those of the whole answer.
"""

import collections
import contextlib
import functools

from dogpile.cache.backends import memcached

from keystone.common.cache import backend_writes

_END = b'END'
_NEWLINE = b'\r\n'
_CHUNK = 65536  # bytes to receive at once

# Attribute of a connection: the bytes of its last answer, and what they say.
_LAST = '_keystone_last_answer'

# A value from memcached: the line that announces it, and its bytes.
_Item = collections.namedtuple('_Item', ('line', 'data'))


def read(region, keys):
    """Read several values of a region from its backend.

    :param region: a configured :class:`dogpile.cache.region.CacheRegion`
    :param keys: tuple of keys, mangled
    :returns: list as long as the keys, with ``NO_VALUE`` or None for what is
        missing. Two lists are equal only if the values are; what else is in
        them depends on the backend
    :raises: what the cache server's client raises, if that fails
    """
    backend = _backend_of(region, region.backend)
    if isinstance(backend, memcached.MemcachedBackend):
        with _client(backend) as client:
            if hasattr(client, '_get_server'):
                return _ask(client, keys)
    if region.deserializer:
        return backend.get_serialized_multi(keys)
    return backend.get_multi(keys)


def are_readable(region):
    """Whether :func:`decode` can make objects of a region's values."""
    return region.deserializer is None


def decode(region, found):
    """Make objects of values.

    :param found: list that :func:`read` gave
    :returns: list of what the backend's ``get_multi`` gives for the same
    """
    backend = _backend_of(region, region.backend)
    if not any(isinstance(one, _Item) for one in found):
        return found
    with _client(backend) as client:
        return [one and _decoded(client, one) for one in found]


def _decoded(client, item):
    _, _, flags, size = item.line.split()
    received = _Received(item.data)
    return client._recv_value(received, int(flags), int(size))


class _Received:
    """Stands for a connection on which a value has arrived."""

    def __init__(self, data):
        self._data = data

    def recv(self, size):
        return self._data[:size]


@functools.lru_cache(maxsize=16)
def _backend_of(region, _outermost):
    # Of another outermost proxy, if that was replaced.
    return backend_writes.layers(region)[-1]


def _client(backend):
    pool = getattr(backend, 'client_pool', None)
    return pool.acquire() if pool else contextlib.nullcontext(backend.client)


def _ask(client, keys):
    """Ask memcached by the connections of a client of python-memcached.

    As with the client's own methods, servers that fail are left alone for a
    while, and what they have is missing.
    """
    keys = _encoded(keys)
    # All are asked before the first has answered.
    asked = [
        server
        for server, wanted in _by_server(client, keys)
        if _survives(server, server.send_cmd, b' '.join((b'get', *wanted)))
    ]
    found = {}
    for server in asked:
        _survives(server, _receive, server, found)
    return [found.get(key) for key in keys]


def _by_server(client, keys):
    if len(client.buckets) == 1:
        (server,) = client.buckets
        return [(server, keys)] if server.connect() else []
    wanted = {}
    for key in keys:
        server, _ = client._get_server(key)
        if server is not None:
            wanted.setdefault(server, []).append(key)
    return wanted.items()


@functools.lru_cache(maxsize=16)
def _encoded(keys):
    return tuple(
        key if isinstance(key, bytes) else key.encode() for key in keys
    )


def _survives(server, function, *args):
    try:
        function(*args)
    except OSError as error:
        server.mark_dead(error)
        return False
    except Exception:
        # What else comes on this connection belongs to no question.
        server.close_socket()
        return False
    return True


def _receive(server, found):
    """Receive all items of an answer.

    An answer that is the last one again, byte by byte, says the same. No other
    answer begins with it: each of its lines tells where the next one is.

    :param found: each :class:`_Item` is added to it, by its key
    """
    last, items = getattr(server, _LAST, (None, None))
    if last is not None and not server.buffer:
        server.buffer = server.socket.recv(_CHUNK)
        if server.buffer == last:
            server.buffer = b''
            found.update(items)
            return
    received = []
    items = {}
    line = server.readline(raise_exception=True)
    while line != _END:
        _, key, _, size = line.split()
        item = _Item(line, server.recv(int(size) + len(_NEWLINE)))
        found[key] = items[key] = item
        received += line, _NEWLINE, item.data
        line = server.readline(raise_exception=True)
    received += line, _NEWLINE
    setattr(server, _LAST, (b''.join(received), items))
