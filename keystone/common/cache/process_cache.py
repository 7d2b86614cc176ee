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

"""Values of the shared cache, as far as this process has read them lately.

A request looks for a value first in what it has read itself, then in the
copies of its process, then in the shared cache. A copy is used if the stamp
that it was read under is that of the request: nothing was deleted or replaced
in between. Its key holds the id of its region, so that a region which is
invalidated takes its copies along.

A copy is made only of what the shared cache has answered, and the stamp it
stands under was read before. So a value that is deleted while it is read is
either not read any more, or stands under a stamp that is no longer valid when
the deletion is done.
"""

import functools

from dogpile.cache import api
from dogpile.cache import proxy
from oslo_serialization import msgpackutils

from keystone.common.cache import _context_cache
from keystone.common.cache import copies
from keystone.common.cache import facts
from keystone.common.cache import request_local
from keystone.common.cache import shared
from keystone.common.cache import stamps
import keystone.conf

CONF = keystone.conf.CONF

# Where the context of a request keeps what _max_age() has found.
_MAX_AGE = '_request_cache_max_age'

_copies = copies.Copies()


def clear():
    """Drop the copies of this process."""
    _copies.clear()


def _stamp():
    """What copies have to be valid under; None if none may be used."""
    context = request_local.current()
    return stamps.writes() if _max_age(context) else None


def _max_age(context):
    """Seconds that copies may be used in a request; 0 if they may not."""
    if context is None:
        return 0
    seconds = getattr(context, _MAX_AGE, None)
    if seconds is None:
        is_used = CONF.process_cache.enabled and shared.is_shared()
        seconds = CONF.process_cache.max_age if is_used else 0
        setattr(context, _MAX_AGE, seconds)
    return seconds


def find(context, key):
    """Find what the request under way has read, or may take from the copies.

    :param context: what :func:`.request_local.current` gives
    :param key: a key as the backend has it
    :returns: bytes, as in :class:`Proxy`; None if the shared cache has to be
        asked
    """
    attribute = request_local.PREFIX + key
    value = getattr(context, attribute, None)
    if value is None:
        value = _find(key, _stamp())
        if value is not None:
            setattr(context, attribute, value)
    return value


def _find(key, stamp):
    if stamp is None:
        return None
    return _copies.get(key, stamp, _max_age(request_local.current()))


def _keep(key, value, stamp):
    if stamp is not None:
        limits = CONF.process_cache
        _copies.put(
            key, value, stamp,
            limits.max_age, limits.max_entries, limits.max_bytes,
        )  # fmt: skip


def _serialized(value):
    """A cached value as upstream keeps it for a request."""
    return msgpackutils.dumps(
        {'payload': value.payload, 'metadata': value.metadata}
    )


class Proxy(_context_cache._ResponseCacheProxy):
    """What a request has read, before copies of this process, before others.

    A copy is serialized, as upstream serializes what a request has read:
    nobody can change it. Backends that take bytes have them copied as they
    are; upstream's proxy does not see those at all.

    :ivar region_name: name of the region whose proxy it is
    """

    region_name = None

    def get(self, key):
        value = self._get_local_cache(key)
        if value is not api.NO_VALUE:
            facts.note(self, key, self._get_bytes(key))
            return value
        stamp = _stamp()
        copy = _find(key, stamp)
        if copy is not None:
            self._set_bytes(key, copy)
            facts.note(self, key, copy)
            return self._get_local_cache(key)
        value = self.proxied.get(key)
        if value is not api.NO_VALUE:
            self._set_local_cache(key, value)
            _keep(key, self._get_bytes(key), stamp)
            facts.note(self, key, self._get_bytes(key))
        return value

    def get_serialized(self, key):
        value = self._get_bytes(key)
        if value is not None:
            facts.note(self, key, value)
            return value
        stamp = _stamp()
        value = _find(key, stamp)
        if value is None:
            value = self.proxied.get_serialized(key)
            if value is None or value is api.NO_VALUE:
                return value
            _keep(key, value, stamp)
        self._set_bytes(key, value)
        facts.note(self, key, value)
        return value

    def set(self, key, value):
        super().set(key, value)
        facts.note(self, key, self._get_bytes(key))
        _copies.drop(key)

    def set_multi(self, mapping):
        super().set_multi(mapping)
        for key in mapping:
            _copies.drop(key)

    def set_serialized(self, key, value):
        self._set_bytes(key, value)
        self.proxied.set_serialized(key, value)
        facts.note(self, key, value)
        _copies.drop(key)

    def set_serialized_multi(self, mapping):
        for key, value in mapping.items():
            self._set_bytes(key, value)
        self.proxied.set_serialized_multi(mapping)
        for key in mapping:
            _copies.drop(key)

    def delete(self, key):
        super().delete(key)
        _copies.drop(key)

    def delete_multi(self, keys):
        keys = list(keys)
        super().delete_multi(keys)
        for key in keys:
            _copies.drop(key)

    @functools.cached_property
    def _backend(self):
        layer = self.proxied
        while isinstance(layer, proxy.ProxyBackend):
            layer = layer.proxied
        return layer

    @functools.cached_property
    def place(self):
        """What is the same for all regions that keep their values together."""
        servers = getattr(self._backend, 'url', None)
        return repr(servers) if servers else id(self._backend)

    def read_stored(self, keys):
        """Read values from the backend, past requests and copies.

        :returns: list of bytes, as a request keeps them; None for what is
            missing
        """
        backend = self._backend
        if getattr(backend, 'deserializer', None):
            found = backend.get_serialized_multi(keys)
            return [one if isinstance(one, bytes) else None for one in found]
        return [
            None if one in (None, api.NO_VALUE) else _serialized(one)
            for one in backend.get_multi(keys)
        ]

    def _get_bytes(self, key):
        context = self._get_request_context()
        return getattr(context, self._get_request_key(key), None)

    def _set_bytes(self, key, value):
        context = self._get_request_context()
        setattr(context, self._get_request_key(key), value)
