# SPDX-License-Identifier: Apache-2.0

"""Tags appended to the ids of cache regions.

A region id is random. The process that changes it may append a tag, which is
read together with the id: there is no second key that could be older than the
first one, or get lost.
"""

import threading

#: Random bytes of an id, as in unpatched releases.
RANDOM = 10

_notes = threading.local()


def put(manager, note):
    """Append a tag to the ids that this thread generates for a region.

    :param manager: the region's
        :class:`keystone.common.cache.RegionInvalidationManager`
    :param note: bytes
    """
    vars(_notes)[manager._region_key] = note


def of(manager):
    """The tag that this thread appends, as bytes."""
    return vars(_notes).get(manager._region_key, b'')


def read(region_id):
    """The tag of an id, as bytes."""
    return region_id[RANDOM:]
