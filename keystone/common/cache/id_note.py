# SPDX-License-Identifier: Apache-2.0

"""What the id of a cache region tells besides that the region has changed.

An id is random. Whoever changes it may append a note, which everybody reads
in the same moment as the id: there is no second key that could be older than
the first one, or get lost.
"""

import threading

# Bytes of an id that are random, in this release as in an unpatched one.
_RANDOM = 10

_notes = threading.local()


def put(manager, note):
    """Append a note to the ids that this thread gives to a region.

    :param manager: the region's
        :class:`keystone.common.cache.RegionInvalidationManager`
    :param note: bytes
    """
    vars(_notes)[manager._region_key] = note


def of(manager):
    """The note that this thread appends, as bytes."""
    return vars(_notes).get(manager._region_key, b'')


def read(region_id):
    """The note that an id carries, as bytes."""
    return region_id[_RANDOM:]
