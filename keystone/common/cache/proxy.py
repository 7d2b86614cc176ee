# SPDX-License-Identifier: Apache-2.0

"""Proxy between a cache region and its backend.

A request first looks up a value among those it has read, then in the cache. A
missing or expired value is leased: a placeholder is stored, and the value is
only stored if the placeholder is still there. A deletion removes the
placeholder, so a value read before a change is never stored after it. Stock
Keystone treats a placeholder as a value of another dogpile.cache version, and
replaces it.

Cache failures do not reach the region: a value that cannot be read is a miss,
a value that cannot be stored is not cached, and if a value cannot be deleted
the whole region is invalidated.
"""

from collections.abc import Iterable
from collections.abc import Mapping
import contextlib
import math
import secrets
import threading
import time
from typing import Any

import cachetools
from dogpile.cache import api
from dogpile.cache.backends import null
from dogpile.cache import proxy
from dogpile.cache import region as dogpile_region
from oslo_log import log

from keystone.common.cache import facts
from keystone.common.cache import lifetimes
from keystone.common.cache import regions
from keystone.common.cache import shared
from keystone.common.cache import stores
from keystone.common import counters

LOG = log.getLogger(__name__)

# The version of a placeholder, not used by dogpile.cache.
_PLACEHOLDER = 0
# Seconds within which a leased value must be stored. With a distant database,
# effective roles take more than ten.
_LEASE = 60
# Maximum number of leases held by a thread.
_HELD = 100

_OF_SERVERS = stores.MemcachedStore, stores.RedisStore


class Manager:
    """The id of one region, replacing upstream's manager.

    :param manager: a :class:`keystone.common.cache.RegionInvalidationManager`
    """

    def __init__(self, manager: Any) -> None:
        self.is_region_key = manager.is_region_key
        self.ids = regions.ids_of(manager._invalidation_region)
        self.name = manager._region_key.removeprefix(regions.PREFIX)
        self._region_key = manager._region_key

    @property
    def region_id(self) -> bytes:
        """The current id."""
        region_id = self.ids.read(self.name)
        is_whole = self.name in regions.OF_STOCK
        return region_id if is_whole else regions.base_of(region_id)

    def invalidate_region(self) -> bytes:
        """Give the region a new id, and return it."""
        if self.name in regions.OF_STOCK:
            return self.ids.write_keeping_base(self.name)
        return self.ids.write(self.name, shared.next_tag(self))


class _Mutex:
    """A lock that calls a function before it is released."""

    def __init__(self, function: Any) -> None:
        self._lock = threading.Lock()
        self._function = function
        self.acquire = self._lock.acquire
        self.locked = self._lock.locked

    def release(self) -> None:
        try:
            self._function()
        finally:
            self._lock.release()


class Proxy(proxy.ProxyBackend):
    """Reads and writes the values of a region, as facts.

    :param region: the region, configured except for this proxy
    :param manager: of the id of the region
    """

    def __init__(
        self, region: dogpile_region.CacheRegion, manager: Manager
    ) -> None:
        super().__init__()
        self._region = region
        self._manager = manager
        self._own_store = stores.of(region)
        actual = stores.actual(region.backend)
        self._is_null = isinstance(actual, null.NullBackend)
        self._leases = threading.local()

    @property
    def _store(self) -> stores.Store:
        # All regions use the same servers, and bypass one together.
        if isinstance(self._own_store, _OF_SERVERS):
            return self._manager.ids.store
        return self._own_store

    # Interface of the region.

    def get(self, key: str) -> Any:
        found = self._find(key)
        return api.NO_VALUE if found is None else found[1]

    def get_serialized(self, key: str) -> Any:
        found = self._find(key)
        return api.NO_VALUE if found is None else found[0]

    # Inherited, these would bypass leases and facts.

    def get_multi(self, keys: Iterable[str]) -> list[Any]:
        return [self.get(key) for key in keys]

    def get_serialized_multi(self, keys: Iterable[str]) -> list[Any]:
        return [self.get_serialized(key) for key in keys]

    def set_multi(self, mapping: Mapping[str, Any]) -> None:
        for key, value in mapping.items():
            self.set(key, value)

    def set_serialized_multi(self, mapping: Mapping[str, bytes]) -> None:
        for key, value in mapping.items():
            self.set_serialized(key, value)

    def set(self, key: str, value: Any) -> None:
        self._keep(key, regions.pack(self._region, value), value.metadata)

    def set_serialized(self, key: str, value: bytes) -> None:
        unpacked = regions.unpack(self._region, value)
        self._keep(key, value, unpacked.metadata)

    def delete(self, key: str) -> None:
        if self._is_null:
            facts.forget(key)
            return
        ids, name = self._manager.ids, self._manager.name
        if isinstance(key, lifetimes.Key) and key.source:
            # Other processes may use another id of the region since the
            # request has read it.
            facts.forget(ids.key(name))
            key = self._region.key_mangler(key.source)
        facts.forget(key)
        counters.count(self._region.name, counters.ROUND_TRIPS)
        is_deleted = False
        with contextlib.suppress(stores.Unavailable):
            # With another id, a process may have the value under another key.
            self._store.delete(key, copies_of=[ids.key(name)])
            # Otherwise, the key has an id that only this process uses.
            is_deleted = ids.is_known(name)
        if not is_deleted:
            LOG.info('Failed to delete a cached value: invalidating region.')
            self._region.invalidate()

    def get_mutex(self, key: str) -> Any:
        """A lock of the process, for the creation of a value.

        A lock of the servers, which Sentinel backends use, fails with them,
        and stays if its process is killed. Other processes see the lease.
        """
        return _Mutex(lambda: self._give_up(key))

    # Implementation.

    def _find(self, key: str) -> tuple[bytes, Any] | None:
        """Find a value, and record it as a fact.

        :returns: the value as stored, and as an object; None on a miss
        """
        counters.count(self._region.name, counters.LOOKUPS)
        known = facts.known(key)
        stored, is_stored = known or (self._read(key), True)
        value = stored and regions.unpack(self._region, stored)
        if not stored or not value:
            facts.note(key, facts.MISSING, 0)
            return None
        self._note(key, stored, value.metadata, is_stored)
        return stored, value

    def _note(
        self, key: str, stored: bytes, metadata: Mapping, is_stored: bool
    ) -> None:
        """Keep a value for the request, and record it as a fact."""
        facts.keep(key, (stored, is_stored))
        if is_stored and self._own_store.is_direct:
            fingerprint = facts.fingerprint(stored)
            facts.note(key, fingerprint, self._until(key, metadata))
        else:
            facts.note(key, facts.MISSING, 0)

    def _read(self, key: str) -> bytes | None:
        """Read a valid value, or take a lease on it."""
        if self._is_null or lifetimes.seconds_of(self._region, key) == 0:
            facts.note_uncached()
            self._held()[key] = None
            return None
        try:
            stored = facts.take(key) if self._own_store.is_direct else None
            if stored is None:
                counters.count(self._region.name, counters.ROUND_TRIPS)
                (stored,) = self._store.get_many([key])
            value = stored and regions.unpack(self._region, stored)
            if value and _is_placeholder(value.metadata):
                # A region looks twice: this may be a lease of this thread.
                if self._held().get(key) != stored:
                    self._held()[key] = None
            elif not value or self._until(key, value.metadata) <= time.time():
                self._lease(key, stored)
            else:
                return stored
        except stores.Unavailable:
            self._held()[key] = None
        counters.count(self._region.name, counters.MISSES)
        return None

    def _lease(self, key: str, stored: bytes | None) -> None:
        """Store a placeholder for a missing or expired value."""
        metadata = {'ct': time.time(), 'v': _PLACEHOLDER}
        nonce = api.CachedValue(secrets.token_bytes(8), metadata)
        placeholder = regions.pack(self._region, nonce)
        is_mine = self._store.replace(key, stored, placeholder, _LEASE)
        self._held()[key] = placeholder if is_mine else None

    def _give_up(self, key: str) -> None:
        """End the lease of this thread if it is unused, as after an error."""
        if self._held().pop(key, None):
            counters.count(self._region.name, counters.ROUND_TRIPS)
            with contextlib.suppress(stores.Unavailable):
                self._store.delete(key)

    def _held(self) -> Any:
        """The leases of this thread, a few of which may be unused."""
        return vars(self._leases).setdefault(
            'held', cachetools.LRUCache(_HELD)
        )

    def _keep(self, key: str, stored: bytes, metadata: Mapping) -> None:
        """Store a value, if it has not changed since it was leased."""
        leases = self._held()
        if key not in leases:
            # Not read under a lease: another change may have followed the
            # one that set this value.
            self.delete(key)
            return
        placeholder = leases.pop(key)
        seconds = lifetimes.seconds_to_live(self._region, key)
        is_kept = False
        if placeholder is not None:
            counters.count(self._region.name, counters.ROUND_TRIPS)
            with contextlib.suppress(stores.Unavailable):
                is_kept = self._store.replace(
                    key, placeholder, stored, seconds
                )
        self._note(key, stored, metadata, is_kept)

    def _until(self, key: str, metadata: Mapping) -> float:
        """When a value expires, in seconds since the epoch."""
        made_at = metadata['ct']
        if metadata.get('v') == _PLACEHOLDER or not math.isfinite(made_at):
            return 0
        seconds = lifetimes.seconds_of(self._region, key)
        return math.inf if seconds is None else made_at + seconds


def _is_placeholder(metadata: Mapping) -> bool:
    """Whether it is an unexpired placeholder; not all backends expire it."""
    return (
        metadata.get('v') == _PLACEHOLDER
        and abs(time.time() - metadata['ct']) < _LEASE
    )


def attach(region: dogpile_region.CacheRegion, manager: Any) -> Any:
    """Attach the proxy to a configured region.

    :returns: the :class:`Manager` to replace that of the region
    """
    replacement = Manager(manager)
    region.wrap(Proxy(region, replacement))
    return replacement
