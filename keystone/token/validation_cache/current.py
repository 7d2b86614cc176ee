# SPDX-License-Identifier: Apache-2.0

"""Comparison of records with the current facts.

A record is valid if it has not expired, the fingerprints of its facts are
unchanged, and no revocation event revokes the token, if it is the record of a
token.
"""

from collections.abc import Collection
import functools
import time
from typing import Any

from keystone.catalog import in_process
from keystone.common import cache as keystone_cache
from keystone.common.cache import facts
from keystone.common.cache import regions
from keystone.common import counters
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
    :ivar stored: values by key in the cache
    :ivar catalog_stamp: that of :mod:`keystone.catalog.in_process`, or empty
    """

    def __init__(self, places: list[str], found: list[Any]) -> None:
        self._ids = ids_of_regions()
        self._ids.write_pending()
        self.stored: dict[str, bytes | None] = {}
        # By key of the fact. Records share many facts.
        self._prints: dict[str, bytes] = {}
        # The id of the revocation events; empty if unknown.
        self._stamp = self.catalog_stamp = b''
        keys = _facts_of(found)
        if places or keys:
            events = self._ids.key(revoke.REVOKE_REGION.name)
            catalogs = self._ids.key(in_process.CONTENT.region.name)
            keys += facts.ID + events, facts.ID + catalogs
            self._read(keys, places)
            if self._prints[facts.ID + events]:
                self._stamp = self._ids.parse(self.stored[events]).payload
            if self._prints[facts.ID + catalogs]:
                value = self._ids.parse(self.stored[catalogs])
                self.catalog_stamp = regions.base_of(value.payload)

    def read(self, found: list[Any]) -> None:
        """Read the facts of records that were not read before."""
        self._read(_facts_of(found))

    def _read(self, keys: list[str], places: Collection[str] = ()) -> None:
        """Read facts that were not read before, in one round trip.

        :param places: keys of other values to read with them
        """
        new = [key for key in dict.fromkeys(keys) if key not in self._prints]
        if not new and not places:
            return
        counters.count(CACHE, counters.ROUND_TRIPS)
        wanted = [*places, *[key.removeprefix(facts.ID) for key in new]]
        values = self._ids.store.get_many(wanted)
        found = dict(zip(wanted, values))
        facts.offer(found)
        self.stored.update(found)
        for key, stored in zip(new, values[len(places) :]):
            self._prints[key] = self._fingerprint(key, stored)

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
        prints = [self._prints[key] for key in record.keys]
        # The fingerprint of a missing fact is shorter.
        if b''.join(prints) != record.prints:
            return 'changed'
        return None if record.revocation is None else self._revoked(record)

    def _fingerprint(self, key: str, stored: bytes | None) -> bytes:
        if stored is None:
            return facts.MISSING
        if key.startswith(facts.ID):
            found = self._ids.fingerprint(key.removeprefix(facts.ID), stored)
            return found or facts.MISSING
        return facts.fingerprint(stored)

    @functools.cached_property
    def _replica(self) -> Any:
        return PROVIDERS.revoke_api.token_check.replica(
            PROVIDERS.revoke_api.driver
        )

    def _revoked(self, record: records.Record) -> str | None:
        """Whether events revoke the token of a record, as a flaw."""
        if self._replica is None or not self._stamp:
            return 'events'
        view = self._replica.view_in_step(self._stamp)
        if view is not None and record.cleared == view.number:
            return None
        if self._replica.is_revoked_under(self._stamp, record.revocation):
            return 'revoked'
        if view is not None:
            record.cleared = view.number
        return None


def _facts_of(found: list[Any]) -> list[str]:
    return [key for record in found if record for key in record.keys]
