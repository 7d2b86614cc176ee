# SPDX-License-Identifier: Apache-2.0

"""Expiry of cached values in the backend.

dogpile.cache compares the age of a value with the cache time of its group when
the value is read; the backend keeps it until it needs the memory. Here, keys
carry the cache time from the decorator that generated them to the backend,
where it becomes the expiry of the entry.
"""

import functools
import math
from typing import Any

from oslo_cache import core as oslo_cache

from keystone.common.cache import facts
import keystone.conf

CONF = keystone.conf.CONF

# dogpile.cache's word for a value that does not expire.
_NEVER = -1

# Suffixes of the settings that make the values of a region expire.
_EXPIRY = 'expiration_time', 'expire_time'


class Key(str):
    """A cache key with the cache time of its value.

    ``cache_time`` is in seconds, or None if the time of the region applies.
    ``source`` is the key without the id of the region.
    """

    __slots__ = ('cache_time', 'source')

    cache_time: Any
    source: Any

    @classmethod
    def of(cls, text, cache_time, source=None):
        """Make a key of a string."""
        key = cls(text)
        key.cache_time = cache_time
        key.source = source
        return key


def get_memoization_decorator(conf, region, group, expiration_group=None):
    """Make a decorator whose values expire in the backend.

    The arguments and the result are those of
    :func:`oslo_cache.core.get_memoization_decorator`. A value that is set is
    deleted, and loaded when it is read.
    """
    plain = oslo_cache.get_memoization_decorator(
        conf, region, group, expiration_group=expiration_group
    )

    def cache_time():
        is_cached = plain.should_cache(None)
        return plain.get_expiration_time() if is_cached else 0

    cached = region.cache_on_arguments(
        should_cache_fn=plain.should_cache,
        expiration_time=plain.get_expiration_time,
        function_key_generator=_key_generator(
            region.function_key_generator, cache_time
        ),
    )

    @functools.wraps(plain)
    def memoize(function):
        memoized = cached(facts.apart(function))
        memoized.original = function
        _delete_only(memoized)
        return memoized

    return memoize


def _delete_only(memoized):
    """Have a memoized function delete values where it would set them."""
    delete = memoized.invalidate

    def invalidate(*args):
        delete(*args)
        # A database may find the id of a change in another letter case.
        lower = tuple(a.lower() if isinstance(a, str) else a for a in args)
        if lower != args:
            delete(*lower)

    memoized.invalidate = invalidate
    # Another change may have followed the one that sets this value.
    memoized.set = lambda _value, *args: invalidate(*args)


def _key_generator(generator, cache_time):
    def for_function(namespace, function, **kwargs):
        # Keys depend on the signature of the original function.
        generate = generator(namespace, function.__wrapped__, **kwargs)

        @functools.wraps(generate)
        def key(*args, **kwargs):
            return Key.of(generate(*args, **kwargs), cache_time())

        return key

    return for_function


def keep_in_keys(region):
    """Make the key mangler of a region keep the attributes of keys.

    :param region: a fully configured region
    """
    mangle = region.key_mangler

    def mangle_and_keep(key):
        mangled = mangle(key)
        if isinstance(key, Key) and isinstance(mangled, str):
            return Key.of(mangled, key.cache_time, key)
        return mangled

    region.key_mangler = mangle_and_keep


def seconds_of(region, key):
    """How long the value of a key may be used.

    :param region: the region of the key
    :param key: a key as used in the backend. Keys without a cache time, such
        as those replaced by a custom proxy, have the time of the region
    :returns: seconds; 0 if it is not cached, None if it does not expire
    """
    seconds = key.cache_time if isinstance(key, Key) else None
    if seconds is None:
        seconds = region.expiration_time
    return None if seconds == _NEVER else seconds


def seconds_to_live(region, key):
    """When the backend may drop the value of a key.

    :returns: whole seconds from now, 0 for never
    """
    limits = (seconds_of(region, key), CONF.cache.backend_expiration_time)
    seconds = min((one for one in limits if one), default=0)
    return math.ceil(seconds)


def without_expiry(settings):
    """Remove the settings that make the values of a region expire.

    :param settings: dictionary for
        :meth:`dogpile.cache.region.CacheRegion.configure_from_config`
    """
    for name in list(settings):
        if name.endswith(_EXPIRY):
            del settings[name]
