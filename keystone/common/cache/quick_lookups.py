# Licensed under the Apache License, Version 2.0 (the "License"); you may
# not use this file except in compliance with the License. You may obtain
# a copy of the License at
#
#      http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the
# License for the specific language governing permissions and limitations
# under the License.

"""Look-ups of cached values that this process has, in a few steps.

dogpile.cache takes each look-up through a lock, since it may have to make the
value, and binds the arguments to a signature anew. For a value that the
request has read already, or that the copies of the process have, neither is of
use. Whatever else is looked up goes dogpile.cache's way.
"""

import functools
import inspect
import time

from dogpile.cache import region as dogpile_region
from oslo_serialization import msgpackutils

from keystone.common.cache import backend_writes
from keystone.common.cache import counters
from keystone.common.cache import facts
from keystone.common.cache import process_cache
from keystone.common.cache import request_local

# dogpile.cache's word for a value that does not expire.
_NEVER = -1

# Where the context of a request keeps the cache times that it has looked up.
_TIMES = request_local.PREFIX + 'times'


def first(memoize, region):
    """Make a memoization decorator that looks in this process first.

    :param memoize: what
        :func:`keystone.common.cache.lifetimes.get_memoization_decorator` gives
    :param region: its :class:`dogpile.cache.region.CacheRegion`
    """

    def decorate(function):
        memoized = memoize(function)
        lookup = _Lookup(region, function, memoize.get_expiration_time)
        number = _number_of_arguments(function)

        @functools.wraps(memoized)
        def look_up(*args, **kwargs):
            if len(args) == number and not kwargs:
                found = lookup.find(args)
                if found is not None:
                    return found.payload
            return memoized(*args, **kwargs)

        return look_up

    functools.update_wrapper(decorate, memoize)
    return decorate


def _number_of_arguments(function):
    """How many arguments leave nothing to bind; None if that varies."""
    parameters = inspect.signature(function).parameters.values()
    if all(one.kind is one.POSITIONAL_OR_KEYWORD for one in parameters):
        return len(parameters)
    return None


@functools.lru_cache(maxsize=16)
def _layer_of(region, _outermost):
    """The proxy of a region that notes what is read."""
    # Of another outermost proxy, if that was replaced.
    for layer in backend_writes.layers(region):
        if isinstance(layer, process_cache.Proxy):
            return layer
    return None


class _Lookup:
    """Finds values of one function.

    :param seconds: callable, returns how long a value may be used; None where
        the region's own time holds
    """

    def __init__(self, region, function, seconds):
        self._region = region
        self._key_of = region.function_key_generator(None, function)
        self._seconds = seconds

    def find(self, args):
        """Find the value of some arguments.

        :returns: object with a ``payload`` that the caller may change; None
            if dogpile.cache has to be asked
        """
        region = self._region
        context = request_local.current()
        # With a serializer, bytes have the form that it gives them.
        if (
            context is None
            or not region.is_configured
            or region.deserializer is not None
        ):
            return None
        key = region.key_mangler(self._key_of(*args))
        stored = process_cache.find(context, key)
        if stored is None:
            return None
        found = dogpile_region.CachedValue(**msgpackutils.loads(stored))
        if not self._is_usable(found.metadata, context):
            return None
        facts.note(_layer_of(region, region.backend), key, stored)
        counters.count(region.name, counters.LOOKUPS)
        return found

    def _is_usable(self, metadata, context):
        if metadata['v'] != dogpile_region.value_version:
            return False
        seconds = self._cache_time(context)
        return seconds == _NEVER or time.time() - metadata['ct'] <= seconds

    def _cache_time(self, context):
        times = vars(context).setdefault(_TIMES, {})
        seconds = times.get(self)
        if seconds is None:
            seconds = self._seconds()
            if seconds is None:
                seconds = self._region.expiration_time
            if seconds is None:
                seconds = _NEVER
            times[self] = seconds
        return seconds
