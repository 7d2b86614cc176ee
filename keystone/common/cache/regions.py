# SPDX-License-Identifier: Apache-2.0

"""The ids of cache regions, which are not lost and do not come back.

The id of a region is a part of each key in it: a new id invalidates all of
its values. Every Keystone changes the id of a region where upstream does. What
this one has to add stands behind the random part of an id, as a note.

An id that could not be written is owed: until it is, this process uses none of
the region's values. An id older than one that was seen, from a server that was
away, is replaced.
"""

from collections.abc import Callable
import functools
import math
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
from keystone.common.cache import counters
from keystone.common.cache import facts
from keystone.common.cache import id_note
from keystone.common.cache import request_values
from keystone.common.cache import stores

LOG = log.getLogger(__name__)

PREFIX = '<<<region>>>:'

# Bytes of an id that are random, as upstream has it.
_RANDOM = 10
# Begins a note with the id that counts for this patch set.
_BASE = b'='
_NEVER = math.inf
# The largest number of ids of which a process remembers how new they were.
_REMEMBERED = 10000


def base_of(region_id: bytes) -> bytes:
    """What changes only if all values of a region are invalidated.

    A node with this patch set gives a region another id, too, when it has
    dropped by itself what a change concerns, since others rely on that. It
    then notes the id that is in force.
    """
    note = id_note.read(region_id)
    return note[1:] if note.startswith(_BASE) else region_id


class Ids:
    """The ids in one invalidation region. Any number of threads may use it.

    :param region: the invalidation region
    :param clock: callable, returns seconds since the epoch
    """

    def __init__(
        self,
        region: dogpile_region.CacheRegion,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._region = region
        self._clock = clock
        self._forget()
        after_fork.call(self._forget)

    def _forget(self) -> None:
        self._lock = threading.Lock()
        #: When the newest id that was seen of each key was made.
        self._newest: Any = cachetools.LRUCache(_REMEMBERED)
        self._owed: dict[str, bytes] = {}

    @property
    def store(self) -> stores.Store:
        return stores.of(self._region)

    def key(self, name: str) -> str:
        """The key of an id in the cache, by its name."""
        mangle = self._region.key_mangler
        return mangle(PREFIX + name) if mangle else PREFIX + name

    def read(self, name: str) -> bytes:
        """Read an id, at most once for each request, and note it as a fact.

        :returns: the id; one that no other process has, if the cache fails
        """
        key = self.key(name)
        known = request_values.get(key)
        if known is None:
            known = self._read(key)
            request_values.put(key, known)
        region_id, is_stored = known
        fingerprint = facts.MISSING
        if is_stored:
            fingerprint = facts.fingerprint(base_of(region_id))
        facts.note(facts.ID + key, fingerprint, _NEVER)
        return region_id

    def write(self, name: str, note: bytes = b'') -> bytes:
        """Change an id. It is owed if the cache cannot take it."""
        return self._write(self.key(name), note)

    def write_keeping_base(self, name: str) -> None:
        """Change an id for those who do not know of bases."""
        key = self.key(name)
        try:
            for _ in range(10):
                request_values.drop(key)
                self._count()
                (stored,) = self.store.get_many([key])
                value = self.parse(stored)
                if value is None or self.fingerprint(key, stored) is None:
                    # Nobody knows what was in force last.
                    break
                new = self._packed(
                    secrets.token_bytes(_RANDOM)
                    + _BASE
                    + base_of(value.payload),
                    value.metadata['ct'],
                )
                if self.store.replace(key, stored, new, 0):
                    return
        except stores.Unavailable:
            pass
        self._write(key, b'')

    def _write(self, key: str, note: bytes) -> bytes:
        region_id = secrets.token_bytes(_RANDOM) + note
        with self._lock:
            self._owed[key] = region_id
        is_stored = self._pay(key)
        request_values.put(key, (region_id, is_stored))
        return region_id

    def _pay(self, key: str) -> bool:
        """Write what is owed of a key; whether nothing is any more."""
        region_id = self._owed.get(key)
        if region_id is None:
            return True
        with self._lock:
            newest = self._newest.get(key, 0)
        stored = self._packed(region_id, newest)
        self._count()
        try:
            self.store.set(key, stored, 0)
        except stores.Unavailable:
            LOG.warning(
                'Failed to store the new id of a cache region. This process '
                'bypasses the region until the id is stored.'
            )
            return False
        with self._lock:
            if self._owed.get(key) is region_id:
                del self._owed[key]
        self._see(key, stored)
        return True

    def _count(self) -> None:
        counters.count(self._region.name, counters.ROUND_TRIPS)

    def _read(self, key: str) -> tuple[bytes, bool]:
        """Read an id, or make one; whether it is in the cache."""
        ahead = request_values.take(key)
        value = self.parse(ahead)
        if value is not None and self._see(key, ahead):
            return value.payload, True
        try:
            for _ in range(3):
                if not self._pay(key):
                    break
                self._count()
                (stored,) = self.store.get_many([key])
                value = self.parse(stored)
                if value is None:
                    new = self._packed(secrets.token_bytes(_RANDOM))
                    if stored is None:
                        self.store.add(key, new, 0)
                    else:
                        self.store.replace(key, stored, new, 0)
                elif self._see(key, stored):
                    return value.payload, True
                else:
                    LOG.info('Replacing an outdated id of a cache region.')
                    self._write(key, b'')
        except stores.Unavailable:
            pass
        return secrets.token_bytes(_RANDOM), False

    def _see(self, key: str, stored: bytes) -> bool:
        """Note how new an id is; False if it is older than one before."""
        return self.fingerprint(key, stored) is not None

    def _packed(self, region_id: bytes, after: float = 0) -> bytes:
        made_at = max(self._clock(), math.nextafter(after, math.inf))
        metadata = {'ct': made_at, 'v': dogpile_region.value_version}
        return pack(self._region, api.CachedValue(region_id, metadata))

    def parse(self, stored: bytes | None) -> Any:
        """The id that is stored, or None if there is none."""
        value = stored and unpack(self._region, stored)
        return value if value and isinstance(value.payload, bytes) else None

    def settle(self) -> None:
        """Write all ids that are owed, as far as the cache takes them."""
        for key in list(self._owed):
            self._pay(key)

    def fingerprint(self, key: str, stored: bytes | None) -> bytes | None:
        """The fingerprint of an id as it is stored, if it is in force.

        :returns: None for one that is missing, or older than another one
            that was seen or is owed
        """
        if stored is None or key in self._owed:
            return None
        made_at, fingerprint = _age_and_fingerprint(self.parse, stored)
        with self._lock:
            newest = self._newest.get(key, 0)
            if made_at > newest:
                self._newest[key] = made_at
        return fingerprint if made_at >= newest else None


@functools.lru_cache(maxsize=1000)
def _age_and_fingerprint(
    parse: Callable, stored: bytes
) -> tuple[float, bytes | None]:
    value = parse(stored)
    if value is None:
        return 0, None
    return value.metadata['ct'], facts.fingerprint(base_of(value.payload))


def pack(region: dogpile_region.CacheRegion, value: Any) -> bytes:
    """Make of a value what a region stores."""
    if region.serializer is None:
        return stores.encode(value)
    head = jsonutils.dump_as_bytes(value.metadata)
    return head + b'|' + region.serializer(value.payload)


def unpack(region: dogpile_region.CacheRegion, stored: bytes) -> Any:
    """The reverse of :func:`pack`; None if it is no value of dogpile.cache."""
    try:
        if region.deserializer is None:
            value = stores.decode(stored)
            return value if isinstance(value, api.CachedValue) else None
        head, _, payload = stored.partition(b'|')
        return api.CachedValue(
            region.deserializer(payload), jsonutils.loads(head)
        )
    except Exception as error:
        LOG.warning('Unreadable cached value: %s', type(error).__name__)
        return None


_ids: weakref.WeakKeyDictionary = weakref.WeakKeyDictionary()

# What other releases rely on to be invalidated with a region: whether a token
# is revoked they keep in that of tokens.
_ALONG = {'revoke': ('tokens',)}


def ids_of(region: dogpile_region.CacheRegion) -> Ids:
    """The ids that an invalidation region holds."""
    if region not in _ids:
        _ids[region] = Ids(region)
    return _ids[region]


class Manager:
    """The id of one region, in place of upstream's manager of it.

    :param manager: a :class:`keystone.common.cache.RegionInvalidationManager`
    """

    def __init__(self, manager: Any) -> None:
        self.REGION_KEY_PREFIX = manager.REGION_KEY_PREFIX
        self.is_region_key = manager.is_region_key
        self.ids = ids_of(manager._invalidation_region)
        self.name = manager._region_key.removeprefix(PREFIX)
        self._region_key = manager._region_key
        self._manager = manager

    @property
    def key(self) -> str:
        """The key of the id in the cache."""
        return self.ids.key(self.name)

    @property
    def region_id(self) -> bytes:
        """The id that is in force."""
        return base_of(self.ids.read(self.name))

    def invalidate_region(self) -> bytes:
        """Give the region a new id, and return it."""
        region_id = self.ids.write(self.name, id_note.of(self._manager))
        for name in _ALONG.get(self.name, ()):
            self.ids.write(name)
        return region_id
