# SPDX-License-Identifier: Apache-2.0

"""Lookup of records.

A record is looked up in this process, then in the shared cache. Invariant: it
is read before its facts are compared, and its facts were read before it was
created.
"""

import collections
import contextlib
import functools
import threading
import time
from typing import Any

import cachetools

from keystone.common import after_fork
from keystone.common.cache import shared
from keystone.common.cache import stores
from keystone.common import counters
import keystone.conf
from keystone.token.validation_cache import current
from keystone.token.validation_cache import record as records
from keystone.token.validation_cache import sealing

CONF = keystone.conf.CONF

# Seconds for which a token is remembered as not cacheable.
_UNKEPT = 60
# Seconds for which records are shared at most.
_SHARED = 86400

# With which the names of the records of tokens start.
_SUBJECT = 'token: '
# Flaws of a local record that a shared one may not have.
_OUTDATED = frozenset(('changed', 'expired'))
# Flaws of a record that a new one would have as well.
_FINAL = frozenset(('revoked', 'unkept'))


class Wanted:
    """A record that is requested.

    :param token: the token, or None
    :param name: what the record is about, if not a token
    :ivar keys: the keys to seal it with, once it is located
    :ivar place: its key in the process and in the shared cache
    :ivar is_makeable: whether it is of use to create it if it is not found
    :ivar stamp: that of the catalog when the record was looked up; or empty
    """

    __slots__ = ('is_makeable', 'keys', 'name', 'place', 'stamp', 'token')

    keys: sealing.Keys
    place: str

    def __init__(self, token: str | None, name: str = '') -> None:
        self.token = token
        self.name = name if token is None else _SUBJECT + token
        self.is_makeable = token is not None
        self.stamp = b''

    def locate(self, keys: sealing.Keys) -> None:
        """Set the place under the current keys."""
        self.keys = keys
        self.place = sealing.name(keys, self.name)


class Lookup:
    """Access to the records of this process, and to shared ones. Thread-safe.

    Tokens are not kept in memory: the place of a record does not reveal them.
    """

    def __init__(self) -> None:
        after_fork.call_now_and_after_fork(self._forget)

    def _forget(self) -> None:
        #: Counters ``hit``, ``shared_hit``, ``made``, and by reason ``miss``
        #: and ``not_kept``, as in ``miss: changed``.
        self.counts: collections.Counter = collections.Counter()
        self._lock = threading.Lock()
        self._sealer = sealing.Sealer()
        self.clear()

    @functools.cached_property
    def _records(self) -> Any:
        # Of the size that is configured when it is first used.
        size = CONF.token.validation_cache_size
        return cachetools.LRUCache(size, getsizeof=lambda one: one.size)

    def clear(self) -> None:
        """Drop all records of this process."""
        with self._lock:
            vars(self).pop('_records', None)

    def note(self, what: str) -> None:
        """Increment a counter of the process and of the request."""
        self.counts[what] += 1
        counters.count(current.CACHE, what.replace(': ', '.'))

    @property
    def is_on(self) -> bool:
        return (
            CONF.token.validation_cache_size > 0
            and CONF.token.caching
            and CONF.revoke.max_events_in_memory > 0
            and shared.is_shared()
        )

    @property
    def size(self) -> int:
        """Approximate size in bytes."""
        return int(self._records.currsize)

    def find(self, *wanted: Wanted) -> list[Any]:
        """Find valid records.

        :returns: a :class:`.record.Record` or None for each requested one
        """
        flaw, keys = 'keys', self._sealer.read()
        if keys is not None:
            flaw = 'cache'
            for one in wanted:
                one.locate(keys)
            with contextlib.suppress(stores.Unavailable):
                return self._find(wanted)
        self.note(f'miss: {flaw}')
        for one in wanted:
            one.is_makeable = False
        return [None] * len(wanted)

    def _find(self, wanted: tuple[Wanted, ...]) -> list[Any]:
        with self._lock:
            local = [self._records.get(one.place) for one in wanted]
        absent = [one.place for one, mine in zip(wanted, local) if not mine]
        now = current.Current(absent, local)
        found = [
            mine or _opened(one, now.stored[one.place])
            for one, mine in zip(wanted, local)
        ]
        now.read(found)
        for one in wanted:
            one.stamp = now.catalog_stamp
        flaws = [now.flaw(record) for record in found]
        if self._drop_outdated(wanted, local, flaws):
            # Another process may have shared newer ones.
            return self._find(wanted)
        return [
            self._judge(one, record, mine, flaw)
            for one, record, mine, flaw in zip(wanted, found, local, flaws)
        ]

    def _drop_outdated(self, wanted: Any, local: Any, flaws: Any) -> bool:
        """Drop local records whose facts have changed; False if none have."""
        outdated = [
            one.place
            for one, mine, flaw in zip(wanted, local, flaws)
            if mine and flaw in _OUTDATED
        ]
        with self._lock:
            for place in outdated:
                self._records.pop(place, None)
        return bool(outdated)

    def _judge(
        self, wanted: Wanted, record: Any, mine: Any, flaw: str | None
    ) -> Any:
        """The record if it is valid, or None.

        :param mine: the same if it is a local one, or None
        """
        if flaw is not None:
            self.note(f'miss: {flaw}')
            if flaw in _FINAL:
                wanted.is_makeable = False
            return None
        if mine is None:
            self._put(wanted, record)
        self.note('shared_hit' if mine is None else 'hit')
        return record

    def _put(self, wanted: Wanted, record: records.Record) -> bool:
        """Keep a record in this process; False if it exceeds the size."""
        with self._lock, contextlib.suppress(ValueError):
            self._records[wanted.place] = record
            return True
        return False

    def resized(self, wanted: Wanted, record: records.Record) -> None:
        """Account for the changed size of a record."""
        with self._lock:
            is_kept = self._records.get(wanted.place) is record
        if is_kept:
            self._put(wanted, record)

    def remember_unkept(self, wanted: Wanted) -> None:
        """Remember for a while that a token is not cacheable."""
        now = time.time()
        unkept = records.Record((), b'', now, now + _UNKEPT, head=b'')
        self._put(wanted, unkept)


def _opened(wanted: Wanted, sealed: bytes | None) -> Any:
    """A shared record, or None if it cannot be read."""
    packed = sealing.unseal(wanted.keys, wanted.place, sealed)
    return packed and records.Record.unpacked(packed)


def share(wanted: Wanted, record: records.Record) -> None:
    """Share a record with other processes.

    :raises keystone.common.cache.stores.Unavailable: the servers fail
    """
    seconds = int(min(record.until - time.time(), _SHARED))
    store = current.ids_of_regions().store
    if seconds < 1 or not store.makes_leases:
        return
    sealed = sealing.seal(wanted.keys, wanted.place, record.packed())
    store.set(wanted.place, sealed, seconds)
