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
from dogpile.cache import region as dogpile_region

from keystone.common.cache import counters
from keystone.common.cache import region_ids
from keystone.common.cache import stamps
from keystone.common.cache import stored_values

_VERSION = dogpile_region.value_version

# What was found last, how far the history was then, and what it stands for.
_Seen = collections.namedtuple(
    '_Seen', ('keys', 'found', 'changes', 'ids', 'stamps')
)


class _Last:
    seen = _Seen(None, None, None, None, None)


_last = _Last()


def read():
    """Read what all cached values are valid under.

    :returns: :class:`~keystone.common.cache.stamps.Stamps`; None if they tell
        nothing
    :raises: what the cache server's client raises, if that fails
    """
    if not stamps._stamps:
        return None
    return _current().stamps


def read_ids():
    """Read the ids of all regions.

    The result and the errors are those of
    :func:`keystone.common.cache.stamps.fetch_all`.
    """
    return _current().ids.copy()


def _current():
    keys = tuple(stamps._stamps)
    began = stamps._history.now()
    # Before the read: what changes while it lasts may not show in it.
    seen, changes = _last.seen, stamps._history.changes
    found = _read_raw(keys)
    if found == seen.found and changes == seen.changes and keys == seen.keys:
        return seen
    is_whole = _is_whole(found)
    if found is not api.NO_VALUE and stored_values.are_readable(_region(keys)):
        ids = stamps.take(list(keys), _ids_of(keys, found), began)
    else:
        ids = stamps.fetch_all()
        # What is there before and after is what was read in between.
        is_whole = is_whole and _read_raw(keys) == found
    current = _Seen(keys, found, changes, ids, stamps.stand_for(ids))
    if is_whole and current.stamps is not None:
        _last.seen = current
    return current


def _is_whole(found):
    return found is not api.NO_VALUE and not any(
        value is None or value is api.NO_VALUE for value in found
    )


def _ids_of(keys, found):
    """The ids among what was found, as reading them with the region gives."""
    region = _region(keys)
    values = stored_values.decode(region, found)
    guard = _guard_of(region, region.backend)
    if guard is not None:
        values = guard.judge(_mangled(region.key_mangler, keys), values)
    return [
        value.payload
        if isinstance(value, api.CachedValue)
        and value.metadata['v'] == _VERSION
        else api.NO_VALUE
        for value in values
    ]


def _read_raw(keys):
    region = _region(keys)
    mangled = _mangled(region.key_mangler, keys)
    counters.count(region.name, counters.ROUND_TRIPS)
    guard = _guard_of(region, region.backend)
    if guard is None:
        return stored_values.read(region, mangled)
    return guard.ask(functools.partial(stored_values.read, region), mangled)


def _region(keys):
    return stamps._stamps[keys[0]]._invalidation_region


@functools.lru_cache(maxsize=16)
def _guard_of(region, backend):
    return region_ids.guard_of(region)


@functools.lru_cache(maxsize=16)
def _mangled(mangler, keys):
    return tuple(map(mangler, keys)) if mangler else keys
