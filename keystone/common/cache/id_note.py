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
