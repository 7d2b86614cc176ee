# SPDX-License-Identifier: Apache-2.0

"""Ids of cache regions, protected against loss and outdated copies.

The id of a region is part of each key in it: a new id invalidates all of its
values. Region ids change in the same places as in upstream. Additional
information is appended to the random part of an id, as a tag.

The id of a region that could not be written is pending: until it is written,
this process uses no values of the region. An id older than one already seen,
from a server that was unreachable, is replaced.
"""

import contextlib
import functools
import math
import pickle  # nosec B403
import secrets
import threading
import time
from typing import Any
import weakref

import cachetools
from dogpile.cache import api
from dogpile.cache import region as dogpile_region
from oslo_log import log
from oslo_serialization import jsonutils

from keystone.common import after_fork
from keystone.common.cache import facts
from keystone.common.cache import shared
from keystone.common.cache import stores
from keystone.common import counters

LOG = log.getLogger(__name__)

PREFIX = '<<<region>>>:'

# Prefix of a tag with the id that is effective for this patch set.
_BASE = b'='
# Maximum number of ids whose creation times a process remembers.
_REMEMBERED = 10000


def base_of(region_id: bytes) -> bytes:
    """The base id, which changes only if the whole region is invalidated.

    When a node with this patch set invalidates single values, it also changes
    the region id, since stock nodes rely on that. The base id is then kept in
    the tag.
    """
    note = shared.tag_of(region_id)
    return note[1:] if note.startswith(_BASE) else region_id


def _new_id(note: bytes = b'') -> bytes:
    return secrets.token_bytes(shared.RANDOM) + note


class Ids:
    """The ids in one invalidation region. Thread-safe.

    :param region: the invalidation region
    """

    def __init__(self, region: dogpile_region.CacheRegion) -> None:
        self._region = region
        after_fork.call_now_and_after_fork(self._forget)

    def _forget(self) -> None:
        self._lock = threading.Lock()
        #: Creation time of the newest id seen for each key.
        self._newest: Any = cachetools.LRUCache(_REMEMBERED)
        self._pending: dict[str, bytes] = {}
        self._known = threading.local()

    @property
    def store(self) -> stores.Store:
        return stores.of(self._region)

    def key(self, name: str) -> str:
        """The cache key of an id."""
        mangle = self._region.key_mangler
        return mangle(PREFIX + name) if mangle else PREFIX + name

    def read(self, name: str, seconds: int = 0) -> bytes:
        """Read an id, at most once per request, and record it as a fact.

        :param seconds: after which the id of a part expires, 0 for a region
        :returns: the id; a private one if the cache fails
        """
        key = self.key(name)
        known = facts.known(key)
        if known is None:
            known = self._read(key, seconds)
            facts.keep(key, known)
        region_id, is_stored = known
        if not seconds:  # a region; parts are as many as users
            vars(self._known)[name] = is_stored
        fingerprint = _fingerprint(region_id) if is_stored else facts.MISSING
        facts.note(facts.ID + key, fingerprint, math.inf)
        return region_id

    def is_known(self, name: str) -> bool:
        """Whether this thread last read an id of a region in the cache."""
        return vars(self._known).get(name, False)

    def write(self, name: str, note: bytes = b'') -> bytes:
        """Change the id of a region. If it is not stored, it is pending."""
        key = self.key(name)
        region_id = _new_id(note)
        with self._lock:
            is_known = key in self._pending
            self._pending[key] = region_id
        if not self._write_pending(key) and not is_known:
            LOG.warning(
                'Failed to store the new id of a cache region. This process '
                'bypasses the region until the id is stored.'
            )
        return region_id

    def delete_parts(self, *names: str) -> bool:
        """Delete the ids of parts of a region; readers create new ones.

        :returns: whether none is left; otherwise, the region needs a new id
        """
        keys = list(map(self.key, names))
        for key in keys:
            facts.forget(key)
        counters.count(self._region.name, counters.ROUND_TRIPS)
        return self._delete(*keys)

    def write_keeping_base(self, name: str) -> bytes:
        """Change the id of a region for stock nodes, keeping the base id."""
        key = self.key(name)
        # Otherwise, it could undo a change by another process.
        is_possible = self.store.makes_leases
        with contextlib.suppress(stores.Unavailable):
            for _ in range(10 if is_possible else 0):
                facts.forget(key)
                stored, value = self._look(key)
                if value is None:
                    # The previous id is unknown.
                    break
                region_id = _new_id(_BASE + base_of(value.payload))
                new = self._packed(region_id, value.metadata['ct'])
                if self.store.replace(key, stored, new, 0):
                    self._delete(copies_of=[key])
                    self._current(key, new)  # others are outdated now
                    return region_id
        return self.write(name)

    def write_pending(self) -> None:
        """Write all pending ids, as far as possible."""
        for key in list(self._pending):
            self._write_pending(key)

    def parse(self, stored: bytes | None) -> Any:
        """The stored id, or None if there is none."""
        return stored and _parsed(self._region, stored)

    def fingerprint(self, key: str, stored: bytes | None) -> bytes | None:
        """The fingerprint of a stored id, if it is current."""
        value = self._current(key, stored)
        return value and _fingerprint(value.payload)

    def _current(self, key: str, stored: bytes | None) -> Any:
        """The stored id, if it is current.

        :returns: None if it is missing, or older than another one that was
            seen or is pending
        """
        value = self.parse(stored)
        if not value:
            return None
        made_at = value.metadata['ct']
        with self._lock:
            newest = self._newest.get(key, 0)
            if made_at > newest:
                self._newest[key] = made_at
            is_current = made_at >= newest and key not in self._pending
        return value if is_current else None

    def _look(self, key: str) -> tuple[bytes | None, Any]:
        """What is stored in the cache, and as an id if it is current."""
        counters.count(self._region.name, counters.ROUND_TRIPS)
        (stored,) = self.store.get_many([key])
        return stored, self._current(key, stored)

    def _read(self, key: str, seconds: int) -> tuple[bytes, bool]:
        """Read or create an id; also return whether it is in the cache."""
        value = self._current(key, facts.take(key))
        if value is not None:
            return value.payload, True
        with contextlib.suppress(stores.Unavailable):
            for _ in range(3):
                if not self._write_pending(key):
                    break
                stored, value = self._look(key)
                if value is not None:
                    return value.payload, True
                if stored is None:
                    self.store.add(key, self._packed(_new_id()), seconds)
                elif self._put(key, _new_id(), seconds):
                    LOG.info('Replaced an outdated id of a cache region.')
                else:
                    break
        return _new_id(), False

    def _write_pending(self, key: str) -> bool:
        """Write a pending id; return whether none is pending any longer."""
        with self._lock:
            region_id = self._pending.get(key)
            if region_id is None:
                return True
            # Each attempt writes another id. A failed one may have stored its
            # id, and others values under it, before that was replaced.
            pending = self._pending[key] = _new_id(shared.tag_of(region_id))
        if not self._put(key, region_id):
            return False
        self._delete(copies_of=[key])
        with self._lock:
            if self._pending.get(key) is pending:
                del self._pending[key]
        return True

    def _delete(self, *keys: str, **more: Any) -> bool:
        with contextlib.suppress(stores.Unavailable):
            self.store.delete(*keys, **more)
            return True
        return False

    def _put(self, key: str, region_id: bytes, seconds: int = 0) -> bool:
        """Store a new id; return whether it was stored."""
        with self._lock:
            newest = self._newest.get(key, 0)
        stored = self._packed(region_id, newest)
        counters.count(self._region.name, counters.ROUND_TRIPS)
        is_stored = False
        with contextlib.suppress(stores.Unavailable):
            self.store.set(key, stored, seconds)
            is_stored = True
            self._current(key, stored)
        facts.keep(key, (region_id, is_stored))
        return is_stored

    def _packed(self, region_id: bytes, after: float = 0) -> bytes:
        made_at = max(time.time(), math.nextafter(after, math.inf))
        metadata = {'ct': made_at, 'v': dogpile_region.value_version}
        return pack(self._region, api.CachedValue(region_id, metadata))


@functools.lru_cache(maxsize=1000)
def _parsed(region: dogpile_region.CacheRegion, stored: bytes) -> Any:
    value = unpack(region, stored)
    return value if value and isinstance(value.payload, bytes) else None


@functools.lru_cache(maxsize=1000)
def _fingerprint(region_id: bytes) -> bytes:
    return facts.fingerprint(base_of(region_id))


def pack(region: dogpile_region.CacheRegion, value: Any) -> bytes:
    """Serialize a value as a region stores it."""
    if region.serializer is None:
        return pickle.dumps(value)
    head = jsonutils.dump_as_bytes(value.metadata)
    return head + b'|' + region.serializer(value.payload)


def unpack(region: dogpile_region.CacheRegion, stored: bytes) -> Any:
    """The reverse of :func:`pack`; None if not a dogpile.cache value."""
    try:
        if region.deserializer is None:
            value = pickle.loads(stored)  # nosec B301
            return value if isinstance(value, api.CachedValue) else None
        head, _, payload = stored.partition(b'|')
        return api.CachedValue(
            region.deserializer(payload), jsonutils.loads(head)
        )
    except Exception as error:
        LOG.warning('Unreadable cached value: %s', type(error).__name__)
        return None


_ids: weakref.WeakKeyDictionary = weakref.WeakKeyDictionary()

#: Names of regions in which only stock nodes cache values. The base id changes
#: only when a stock node invalidates such a region.
OF_STOCK: set[str] = set()


def ids_of(region: dogpile_region.CacheRegion) -> Ids:
    """The ids in an invalidation region."""
    if region not in _ids:
        _ids[region] = Ids(region)
    return _ids[region]
