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

"""What it takes to share a cache with Keystones that lack this patch set.

They know the regions that upstream has, and change the id of one where
upstream does. Whether a token is revoked they keep in the region of tokens,
and credentials in the default one. Of a single value that they delete, they
tell nobody but the server that has it.
"""

from dogpile.cache.backends import null

import keystone.conf

CONF = keystone.conf.CONF

_DEFAULT = 'shared default'

# The regions of upstream that hold values.
_KNOWN = frozenset(
    (
        _DEFAULT,
        'computed assignments',
        'computed catalog region',
        'id mapping',
        'receipts',
        'revoke',
        'tokens',
    )
)

# What has to be dropped there, because something else is dropped here.
_ALONG = {'revoke': 'tokens'}


def are_there():
    """Tell whether unpatched nodes use the same cache."""
    return CONF.cache_stamps.unpatched_nodes


def configure(region):
    """Keep no values in a region that unpatched nodes do not know.

    Nothing would drop them when such a node makes a change.

    :param region: a :class:`dogpile.cache.region.CacheRegion`, configured
    """
    if are_there() and region.name not in _KNOWN:
        region.backend = null.NullBackend({})


def dropped_along(name):
    """Which region unpatched nodes rely on when another one is dropped.

    :param name: name of the region that is dropped
    :returns: name of a region, or None
    """
    if not are_there():
        return None
    if name in _KNOWN:
        return _ALONG.get(name)
    # Where upstream has what is in regions of this patch set.
    return _DEFAULT
