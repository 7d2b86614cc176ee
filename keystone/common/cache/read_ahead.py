# SPDX-License-Identifier: Apache-2.0

"""Read the cached values that a request will need in one round trip.

Similar requests read the same values. When one starts, the values that the
last one read are fetched together, and used as if each had been read on
demand. Other values are read normally, and unused ones are discarded. No value
is older than the request.
"""

from collections.abc import Iterator
import contextlib
import hashlib
import secrets

from keystone.common import cache
from keystone.common.cache import counters
from keystone.common.cache import regions
from keystone.common.cache import request_values
from keystone.common.cache import shared
from keystone.common.cache import stores
from keystone.common import local_store

#: The name of its round trips in the counters.
CACHE = 'read ahead'

# Maximum number of kinds of requests, about 2 kB each, and of keys per kind.
_MOST = 1000
_MOST_KEYS = 100


class ReadAhead:
    """The keys read by the last request of each kind.

    Thread-safe. Kinds are identified by a keyed digest, so that the data of
    requests is not kept.

    :param most: maximum number of kinds
    """

    def __init__(self, most: int = _MOST) -> None:
        self._secret = secrets.token_bytes(32)
        self._keys = local_store.LocalStore(most)

    @contextlib.contextmanager
    def reading(self, name: str) -> Iterator[None]:
        """Read ahead for a block of code.

        Nothing is recorded if the block fails, or without a shared cache.

        :param name: identifies similar requests
        """
        if not shared.is_shared():
            yield
            return
        digest = hashlib.blake2b(
            name.encode(), key=self._secret, digest_size=20
        ).digest()
        keys = self._keys.get(digest, ())
        with request_values.reading_ahead(), request_values.noting() as asked:
            if keys:
                self._read(keys)
            yield
        # Not the keys that another component reads together.
        keys = tuple(
            key
            for key, was_at_hand in asked.items()
            if key in keys or not was_at_hand
        )
        self._keys.put(digest, keys[:_MOST_KEYS])

    def __len__(self) -> int:
        return len(self._keys)

    def _read(self, keys: tuple[str, ...]) -> None:
        # All regions use the same servers.
        store = regions.ids_of(cache.CACHE_INVALIDATION_REGION).store
        counters.count(CACHE, counters.ROUND_TRIPS)
        with contextlib.suppress(stores.Unavailable):
            request_values.offer(dict(zip(keys, store.get_many(keys))))


#: The keys recorded by this process.
READ_AHEAD = ReadAhead()
