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

"""How much the requests use each cache.

Nothing is counted, and no proxy stands in the way, unless ``[cache_counters]
enabled`` is on when the regions are configured.
"""

import collections
import threading

from dogpile.cache import api
from dogpile.cache import proxy

import keystone.conf

CONF = keystone.conf.CONF

# What a request asks of a region, what of that not even the backend has, and
# how often the backend is asked.
LOOKUPS = 'lookups'
MISSES = 'misses'
ROUND_TRIPS = 'round_trips'

#: What is told as it is, and not added up: sizes of a cache of this process.
MEASURES = frozenset(('entries', 'bytes', 'shared'))

_of_thread = threading.local()


def count(cache, what, number=1):
    """Count something, if this thread works on a request that is counted.

    :param cache: name of a cache
    :param what: name of the counter
    """
    counted = getattr(_of_thread, 'counted', None)
    if counted is not None:
        counted[cache, what] += number


def measure(cache, what, value):
    """Tell how much there is of something, if the request is counted.

    :param cache: name of a cache
    :param what: one of :data:`MEASURES`
    """
    counted = getattr(_of_thread, 'counted', None)
    if counted is not None:
        counted[cache, what] = value


def is_counting():
    """Whether this thread works on a request that is counted."""
    return getattr(_of_thread, 'counted', None) is not None


def begin():
    """Begin to count, for the request that this thread works on."""
    _of_thread.counted = collections.Counter()


def end():
    """Count no more.

    :returns: {(name of a cache, name of a counter): number} since the begin
    """
    counted = getattr(_of_thread, 'counted', None) or {}
    _of_thread.counted = None
    return dict(counted)


def wrap(region, inner):
    """Put a proxy in front of a region's backend, and count on both sides.

    :param inner: class of the proxy
    """
    if CONF.cache_counters.enabled:
        region.wrap(_Backend(region.name))
    region.wrap(inner)
    if CONF.cache_counters.enabled:
        region.wrap(_Region(region.name))


class _Counting(proxy.ProxyBackend):
    def __init__(self, name):
        super().__init__()
        self._name = name

    def _count(self, what, number=1):
        count(self._name, what, number)


class _Region(_Counting):
    """Counts what is asked of a region."""

    def get(self, key):
        self._count(LOOKUPS)
        return self.proxied.get(key)

    def get_multi(self, keys):
        keys = list(keys)
        self._count(LOOKUPS, len(keys))
        return self.proxied.get_multi(keys)

    def get_serialized(self, key):
        self._count(LOOKUPS)
        return self.proxied.get_serialized(key)

    def get_serialized_multi(self, keys):
        keys = list(keys)
        self._count(LOOKUPS, len(keys))
        return self.proxied.get_serialized_multi(keys)


class _Backend(_Counting):
    """Counts what is asked of the backend."""

    def _found(self, values):
        self._count(ROUND_TRIPS)
        missing = sum(value in (None, api.NO_VALUE) for value in values)
        if missing:
            self._count(MISSES, missing)

    def get(self, key):
        value = self.proxied.get(key)
        self._found([value])
        return value

    def get_multi(self, keys):
        values = self.proxied.get_multi(keys)
        self._found(values)
        return values

    def get_serialized(self, key):
        value = self.proxied.get_serialized(key)
        self._found([value])
        return value

    def get_serialized_multi(self, keys):
        values = self.proxied.get_serialized_multi(keys)
        self._found(values)
        return values

    def set(self, key, value):
        self._count(ROUND_TRIPS)
        self.proxied.set(key, value)

    def set_multi(self, mapping):
        self._count(ROUND_TRIPS)
        self.proxied.set_multi(mapping)

    def set_serialized(self, key, value):
        self._count(ROUND_TRIPS)
        self.proxied.set_serialized(key, value)

    def set_serialized_multi(self, mapping):
        self._count(ROUND_TRIPS)
        self.proxied.set_serialized_multi(mapping)

    def delete(self, key):
        self._count(ROUND_TRIPS)
        self.proxied.delete(key)

    def delete_multi(self, keys):
        self._count(ROUND_TRIPS)
        self.proxied.delete_multi(keys)
