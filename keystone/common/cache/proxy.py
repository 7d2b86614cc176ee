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
import math
import secrets
import threading
import time
from typing import Any

import cachetools
from dogpile.cache import api
from dogpile.cache import proxy
from dogpile.cache import region as dogpile_region
from oslo_log import log

from keystone.common.cache import after_write
from keystone.common.cache import counters
from keystone.common.cache import facts
from keystone.common.cache import lifetimes
from keystone.common.cache import regions
from keystone.common.cache import request_values
from keystone.common.cache import stores

LOG = log.getLogger(__name__)

# The version of a placeholder, not used by dogpile.cache.
_PLACEHOLDER = 0
# Seconds within which a leased value must be stored. With a distant database,
# effective roles take more than ten.
_LEASE = 60
# Maximum number of leases held by a thread.
_HELD = 100


class Proxy(proxy.ProxyBackend):
    """Reads and writes the values of a region, as facts.

    :param region: the region, configured except for this proxy
    :param manager: its :class:`keystone.common.cache.regions.Manager`
    """

    def __init__(
        self, region: dogpile_region.CacheRegion, manager: regions.Manager
    ) -> None:
        super().__init__()
        self._region = region
        self._manager = manager
        self._store = stores.of(region)
        self._leases = threading.local()

    # Interface of the region.

    def get(self, key: str) -> Any:
        found = self._find(key)
        return api.NO_VALUE if found is None else found[1]

    def get_serialized(self, key: str) -> Any:
        found = self._find(key)
        return api.NO_VALUE if found is None else found[0]

    def get_multi(self, keys: Iterable[str]) -> list[Any]:
        return [self.get(key) for key in keys]

    def get_serialized_multi(self, keys: Iterable[str]) -> list[Any]:
        return [self.get_serialized(key) for key in keys]

    def set(self, key: str, value: Any) -> None:
        self._keep(key, regions.pack(self._region, value), value.metadata)

    def set_serialized(self, key: str, value: bytes) -> None:
        unpacked = regions.unpack(self._region, value)
        self._keep(key, value, unpacked.metadata)

    def set_multi(self, mapping: Mapping[str, Any]) -> None:
        for key, value in mapping.items():
            self.set(key, value)

    def set_serialized_multi(self, mapping: Mapping[str, bytes]) -> None:
        for key, value in mapping.items():
            self.set_serialized(key, value)

    def delete(self, key: str) -> None:
        request_values.drop(key)
        counters.count(self._region.name, counters.ROUND_TRIPS)
        try:
            self._store.delete(key)
        except stores.Unavailable:
            LOG.info('Failed to delete a cached value: invalidating region.')
            self._region.invalidate()

    def delete_multi(self, keys: Iterable[str]) -> None:
        for key in keys:
            self.delete(key)

    def get_mutex(self, key: str) -> None:
        """Have the region use a lock of the process.

        A lock of the servers, which Sentinel backends use, fails with them,
        and stays if its process is killed. Other processes see the lease.
        """
        return None

    # Implementation.

    def _find(self, key: str) -> tuple[bytes, Any] | None:
        """Find a value, and record it as a fact.

        :returns: the value as stored, and as an object; None on a miss
        """
        counters.count(self._region.name, counters.LOOKUPS)
        known = request_values.get(key)
        if known is None:
            stored, is_stored = self._read(key), True
        else:
            stored, is_stored = known
        value = stored and regions.unpack(self._region, stored)
        if not value:
            facts.note(key, facts.MISSING, 0)
            return None
        request_values.put(key, (stored, is_stored))
        self._note(key, stored, value.metadata, is_stored)
        return stored, value

    def _note(
        self, key: str, stored: bytes, metadata: Mapping, is_stored: bool
    ) -> None:
        """Record a value as a fact, whether stored in the cache or not."""
        if is_stored:
            fingerprint = facts.fingerprint(stored)
            facts.note(key, fingerprint, self._until(key, metadata))
        else:
            facts.note(key, facts.MISSING, 0)

    def _read(self, key: str) -> bytes | None:
        """Read a valid value, or take a lease on it."""
        if lifetimes.seconds_of(self._region, key) == 0:
            facts.note_uncached()
            self._held()[key] = None
            return None
        try:
            stored = request_values.take(key)
            if stored is None:
                counters.count(self._region.name, counters.ROUND_TRIPS)
                (stored,) = self._store.get_many([key])
            value = stored and regions.unpack(self._region, stored)
            if value and _is_placeholder(value.metadata):
                # A region looks twice: this may be a lease of this thread.
                if self._held().get(key) != stored:
                    self._held()[key] = None
            elif not value or self._is_over(key, value.metadata):
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
        if stored is None:
            is_mine = self._store.add(key, placeholder, _LEASE)
        else:
            is_mine = self._store.replace(key, stored, placeholder, _LEASE)
        self._held()[key] = placeholder if is_mine else None

    def _held(self) -> Any:
        """The leases of this thread, a few of which may be unused."""
        return vars(self._leases).setdefault(
            'held', cachetools.LRUCache(_HELD)
        )

    def _keep(self, key: str, stored: bytes, metadata: Mapping) -> None:
        """Store a value, if it has not changed since it was leased."""
        seconds = lifetimes.seconds_to_live(self._region, key)
        leases = self._held()
        if key not in leases:
            # Not read under a lease: another change may have followed the
            # one that set this value.
            after_write.invalidate(after_write.Value(self, key))
            return
        placeholder = leases.pop(key)
        is_kept = False
        try:
            if placeholder is not None:
                counters.count(self._region.name, counters.ROUND_TRIPS)
                is_kept = self._store.replace(
                    key, placeholder, stored, seconds
                )
        except stores.Unavailable:
            is_kept = False
        request_values.put(key, (stored, is_kept))
        self._note(key, stored, metadata, is_kept)

    def _is_over(self, key: str, metadata: Mapping) -> bool:
        return (
            metadata.get('v') == _PLACEHOLDER
            or self._until(key, metadata) <= time.time()
        )

    def _until(self, key: str, metadata: Mapping) -> float:
        """When a value expires, in seconds since the epoch."""
        if not math.isfinite(metadata['ct']):
            return 0
        seconds = lifetimes.seconds_of(self._region, key)
        return math.inf if seconds is None else metadata['ct'] + seconds


def _is_placeholder(metadata: Mapping) -> bool:
    """Whether it is an unexpired placeholder; not all backends expire it."""
    return (
        metadata.get('v') == _PLACEHOLDER
        and abs(time.time() - metadata['ct']) < _LEASE
    )


def attach(region: dogpile_region.CacheRegion, manager: Any) -> Any:
    """Attach the proxy to the backend of a region.

    :param region: the region, just configured
    :param manager: a :class:`keystone.common.cache.RegionInvalidationManager`
    :returns: the :class:`keystone.common.cache.regions.Manager` to replace it
    """
    ours = regions.Manager(manager)
    region.wrap(Proxy(region, ours))
    return ours
