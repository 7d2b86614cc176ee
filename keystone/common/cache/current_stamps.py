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

"""The stamps as they are now, for whoever works on no request yet.

One query to the cache server, and little else while nothing is invalidated:
what the server has is compared in the form in which the server keeps it.
"""

import collections
import functools

from dogpile.cache import api

from keystone.common.cache import counters
from keystone.common.cache import region_ids
from keystone.common.cache import stamps
from keystone.common.cache import stored_values
import keystone.conf

CONF = keystone.conf.CONF

# What was found last, how far the history was then, and what it stands for.
_Seen = collections.namedtuple('_Seen', ('keys', 'found', 'changes', 'stamps'))

_seen = _Seen(None, None, None, None)


def read():
    """Read what all cached values are valid under.

    :returns: :class:`~keystone.common.cache.stamps.Stamps`; None if they tell
        nothing
    :raises: what the cache server's client raises, if that fails
    """
    global _seen
    if not stamps._stamps:
        return None
    keys = tuple(stamps._stamps)
    seen, changes = _seen, stamps._history.changes
    found = _read_raw(keys)
    if found == seen.found and changes == seen.changes and keys == seen.keys:
        return seen.stamps
    current = _read_anew()
    # What is there before and after is what was read in between. That the
    # history has gone on may be for an id that the server has not taken.
    is_sure = current is not None and _is_whole(found)
    if is_sure and _read_raw(keys) == found:
        _seen = _Seen(keys, found, changes, current)
    return current


def _read_anew():
    if not CONF.cache.enabled or not CONF.cache_stamps.together:
        return None
    return stamps.read_anew()


def _is_whole(found):
    return found is not api.NO_VALUE and not any(
        value is None or value is api.NO_VALUE for value in found
    )


def _read_raw(keys):
    region = stamps._stamps[keys[0]]._invalidation_region
    mangled = _mangled(region.key_mangler, keys)
    counters.count(region.name, counters.ROUND_TRIPS)
    guard = _guard_of(region, region.backend)
    if guard is None:
        return stored_values.read(region, mangled)
    return guard.ask(functools.partial(stored_values.read, region), mangled)


@functools.lru_cache(maxsize=16)
def _guard_of(region, backend):
    return region_ids.guard_of(region)


@functools.lru_cache(maxsize=16)
def _mangled(mangler, keys):
    return tuple(map(mangler, keys)) if mangler else keys
