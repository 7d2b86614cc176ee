# SPDX-License-Identifier: Apache-2.0

"""Invalidate the values changed by a write when the write has completed.

If a value is invalidated before the database has changed, a concurrent reader
caches the old value again. Managers do this where they check, notify and write
in one function.
"""

import contextlib
import contextvars
import functools
from typing import Any
from typing import NamedTuple

from dogpile.cache import proxy

_regions: contextvars.ContextVar[dict[Any, None]] = contextvars.ContextVar(
    'regions invalidated by a write'
)


def invalidate(region):
    """Invalidate a region now, and again at the end of the write.

    :param region: a :class:`keystone.common.cache.RegionInvalidationManager`
    """
    _regions.get({})[region] = None
    region.invalidate_region()


def invalidate_again(write):
    """Decorate a function that writes.

    The regions invalidated and the values deleted during the call are
    invalidated again when it returns or raises, since something may be
    written despite an error.
    """

    @functools.wraps(write)
    def wrapper(*args, **kwargs):
        regions = {}
        reset = _regions.set(regions)
        try:
            return write(*args, **kwargs)
        finally:
            _regions.reset(reset)
            # An enclosing write has not completed yet.
            _regions.get({}).update(regions)
            _invalidate_all(regions)

    return wrapper


class Value(NamedTuple):
    """A cached value, which is invalidated like a region.

    :param backend: deletes the value by its key
    :param key: the key, as the backend has it
    """

    backend: Any
    key: str

    def invalidate_region(self) -> None:
        self.backend.delete(self.key)


class Proxy(proxy.ProxyBackend):
    """Delete the values of a region again when a write has completed."""

    def delete(self, key: str) -> None:
        invalidate(Value(self.proxied, key))


def _invalidate_all(regions):
    """Invalidate regions, each independently of errors with the others."""
    with contextlib.ExitStack() as at_exit:
        # Callbacks are called in reverse order.
        for region in sorted(regions, key=_derivation, reverse=True):
            at_exit.callback(region.invalidate_region)


def _derivation(region):
    """Order regions after those that their values are computed from.

    Otherwise, a reader could compute a value from stale ones after the old
    value was invalidated.
    """
    names = ('shared default', 'computed assignments', 'tokens')
    key = getattr(region, '_region_key', '')
    for rank, name in enumerate(names):
        if key.endswith(f':{name}'):
            return rank
    return 0
