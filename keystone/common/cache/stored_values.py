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

"""Values as the servers of a cache hold them, only to be compared.

Reading ten ids with python-memcached takes ten times as long as the network
and memcached do: it looks at each byte of the keys, and makes an object of
each value. Whether the values are what they were can be told from their bytes.
"""

import contextlib
import functools

from dogpile.cache.backends import memcached

_END = b'END'


def read(region, keys):
    """Read several values of a region from its backend.

    :param region: a configured :class:`dogpile.cache.region.CacheRegion`
    :param keys: tuple of keys, mangled
    :returns: list as long as the keys, with ``NO_VALUE`` or None for what is
        missing. Two lists are equal only if the values are; what else is in
        them depends on the backend
    :raises: what the cache server's client raises, if that fails
    """
    backend = region.actual_backend
    if isinstance(backend, memcached.MemcachedBackend):
        with _client(backend) as client:
            if hasattr(client, '_get_server'):
                return _ask(client, keys)
    if region.deserializer:
        return backend.get_serialized_multi(keys)
    return backend.get_multi(keys)


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
        server, _ = client._get_server(keys[0])
        return [(server, keys)] if server else []
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

    :param found: what is found is added to it, by its key, as the line that
        announces it and its bytes
    """
    line = server.readline(raise_exception=True)
    while line != _END:
        _, key, _, size = line.split()
        found[key] = line, server.recv(int(size) + 2)
        line = server.readline(raise_exception=True)
