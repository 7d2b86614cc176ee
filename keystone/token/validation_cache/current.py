# SPDX-License-Identifier: Apache-2.0

"""Comparison of records with the current facts.

A record is valid if it has not expired, the fingerprints of its facts are
unchanged, and no revocation event revokes the token, if it is the record of a
token.
"""

import time
from typing import Any

from keystone.common import cache as keystone_cache
from keystone.common.cache import counters
from keystone.common.cache import facts
from keystone.common.cache import regions
from keystone.common.cache import request_values
from keystone.common import provider_api
from keystone.revoke import core as revoke
from keystone.token.validation_cache import record as records

PROVIDERS = provider_api.ProviderAPIs

#: Name in the cache counters.
CACHE = 'validation cache'


def ids_of_regions() -> regions.Ids:
    """The ids of all regions, whose store also has the shared records."""
    return regions.ids_of(keystone_cache.CACHE_INVALIDATION_REGION)


class Current:
    """The shared records and facts that a request has read.

    :param places: keys of shared records
    :param found: records whose facts to read, and None
    :ivar stored: values by key
    """

    def __init__(self, places: list[str], found: list[Any]) -> None:
        self._ids = ids_of_regions()
        self._ids.settle()
        self.stored: dict[str, bytes | None] = {}
        # Records share many facts.
        self._prints: dict[str, bytes] = {}
        # The id of the revocation events, or None.
        self._stamp: Any = None
        keys = places + _facts_of(found)
        if keys:
            stamp_key = facts.ID + self._ids.key(revoke.REVOKE_REGION.name)
            self._read([stamp_key, *keys])
            if self._fingerprint(stamp_key):
                self._stamp = self._ids.parse(self.stored[stamp_key])

    def read(self, found: list[Any]) -> None:
        """Read the facts of records that were not read before."""
        self._read(_facts_of(found))

    def _read(self, keys: list[str]) -> None:
        """Read values that were not read before, in one round trip."""
        new = [key for key in dict.fromkeys(keys) if key not in self.stored]
        if not new:
            return
        counters.count(CACHE, counters.ROUND_TRIPS)
        places = [_cache_key(key) for key in new]
        stored = self._ids.store.get_many(places)
        request_values.offer(dict(zip(places, stored)))
        self.stored.update(zip(new, stored))

    def flaw(self, record: records.Record | None) -> str | None:
        """Why a record is invalid, in one word, or None."""
        if record is None:
            return 'unknown'
        now = time.time()
        if now >= record.until:
            return 'expired'
        if now < record.made:
            # The clock went back.
            return 'clock'
        if not record.head:
            return 'unkept'
        prints = self._prints
        for key in record.keys:
            if key not in prints:
                prints[key] = self._fingerprint(key)
        # The fingerprint of a missing fact is shorter.
        if b''.join([prints[key] for key in record.keys]) != record.prints:
            return 'changed'
        return None if record.revocation is None else self._revoked(record)

    def _fingerprint(self, key: str) -> bytes:
        stored = self.stored[key]
        if stored is None:
            return facts.MISSING
        if key.startswith(facts.ID):
            return self._ids.fingerprint(key[1:], stored) or facts.MISSING
        return facts.fingerprint(stored)

    def _revoked(self, record: records.Record) -> str | None:
        """Whether events revoke the token of a record, as a flaw."""
        replica = PROVIDERS.revoke_api.token_check.replica(
            PROVIDERS.revoke_api.driver
        )
        if replica is None or self._stamp is None:
            return 'events'
        stamp = self._stamp.payload
        view = replica.view_in_step(stamp)
        if view is not None and record.cleared == view.number:
            return None
        if replica.is_revoked_under(stamp, record.revocation):
            return 'revoked'
        if view is not None:
            record.cleared = view.number
        return None


def _facts_of(found: list[Any]) -> list[str]:
    return [key for record in found if record for key in record.keys]


def _cache_key(key: str) -> str:
    """The cache key of a fact."""
    return key[1:] if key.startswith(facts.ID) else key
