# SPDX-License-Identifier: Apache-2.0

"""A lease to create a record, so that only one of several processes does."""

from collections.abc import Iterator
import contextlib
import secrets
import time

from keystone.common.cache import stores
from keystone.token.validation_cache import current

#: Seconds after which a lease expires.
SECONDS = 2

# Seconds for which a process waits for another one to create a record, and
# the polling interval.
_WAIT = 0.25
_PAUSE = 0.01


@contextlib.contextmanager
def taken(place: str) -> Iterator[bool]:
    """Take the lease to create the record of a place, if servers have leases.

    Yields False if another process held it, after waiting for it.
    """
    store, lease = current.ids_of_regions().store, f'{place}.lease'
    if not store.makes_leases:
        yield True
        return
    try:
        is_first = store.add(lease, secrets.token_bytes(8), SECONDS)
    except stores.Unavailable:
        yield True
        return
    if not is_first:
        _wait(store, lease)
        yield False
        return
    try:
        yield True
    finally:
        with contextlib.suppress(stores.Unavailable):
            store.delete(lease)


def _wait(store: stores.Store, lease: str) -> None:
    """Wait until a lease is released, for a limited time.

    Others take it again for a token that is rejected; it has another value
    then.
    """
    until = time.monotonic() + _WAIT
    with contextlib.suppress(stores.Unavailable):
        held = store.get_many([lease])
        while held != [None] and time.monotonic() < until:
            time.sleep(_PAUSE)
            if store.get_many([lease]) != held:
                return
