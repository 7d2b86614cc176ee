# SPDX-License-Identifier: Apache-2.0

"""Invalidate what a write has changed when the write is over.

What is invalidated before the database has changed is filled again with the
old values by whoever reads in between. Managers do so where they check,
announce and write in one function.
"""

import contextlib
import contextvars
import functools

_regions = contextvars.ContextVar('regions invalidated by a write')


def invalidate(region):
    """Invalidate a region now, and again at the end of the write.

    :param region: a :class:`keystone.common.cache.RegionInvalidationManager`
    """
    _regions.get({})[region] = None
    region.invalidate_region()


def invalidate_later(region):
    """Invalidate a region at the end of the write, once.

    Now, if no write is under way.

    :param region: a :class:`keystone.common.cache.RegionInvalidationManager`
    """
    regions = _regions.get(None)
    if regions is None:
        region.invalidate_region()
    else:
        regions[region] = None


def invalidate_again(write):
    """Decorate a function that writes.

    The regions that are invalidated in its course are invalidated once more
    when it has returned or raised: an error does not tell that nothing was
    written.
    """

    @functools.wraps(write)
    def wrapper(*args, **kwargs):
        regions = {}
        reset = _regions.set(regions)
        try:
            return write(*args, **kwargs)
        finally:
            _regions.reset(reset)
            # A write around this one is not over yet.
            _regions.get({}).update(regions)
            _invalidate_all(regions)

    return wrapper


def _invalidate_all(regions):
    """Invalidate regions, each whatever becomes of the others."""
    with contextlib.ExitStack() as at_exit:
        # The last one that is put there is the first that is called.
        for region in sorted(regions, key=_derivation, reverse=True):
            at_exit.callback(region.invalidate_region)


def _derivation(region):
    """Rank a region behind those that its values are computed from.

    The other way round, a reader would compute a value from the old ones
    after the old value was dropped.
    """
    names = ('shared default', 'computed assignments', 'tokens')
    for rank, name in enumerate(names):
        if region.is_region_key(region.REGION_KEY_PREFIX + name):
            return rank
    return 0
