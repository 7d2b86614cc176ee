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

"""What the shared cache tells about the table of revocation events.

Each revocation changes the id of the ``revoke`` cache region after its commit.
That id is the stamp: while it stays the same, nothing was revoked through
Keystone, by this release or an unpatched one. A second key holds the row that
was written last, which the reader of a new stamp can look for.
"""

import calendar
import collections
import datetime

from oslo_cache import core as oslo_cache
from oslo_log import log

from keystone.common import cache
import keystone.conf

CONF = keystone.conf.CONF
LOG = log.getLogger(__name__)

_EPOCH = datetime.datetime(1970, 1, 1)
_ROW_KEY = '<<<revocation row>>>'

# Backends that all processes of a cloud can share. Any other may be one of
# this process alone, whose stamps would say nothing about other processes.
_SHARED = frozenset(
    (
        'dogpile.cache.bmemcached',
        'dogpile.cache.memcached',
        'dogpile.cache.pylibmc',
        'dogpile.cache.pymemcache',
        'dogpile.cache.redis',
        'dogpile.cache.redis_sentinel',
        'dogpile.cache.valkey',
        'dogpile.cache.valkey_sentinel',
        'oslo_cache.etcd3gw',
        'oslo_cache.memcache_pool',
        'oslo_cache.mongo',
    )
)

#: A row of the table: its id, and its revoked_at as a naive UTC datetime.
Row = collections.namedtuple('Row', ('id', 'revoked_at'))


class SharedStamp:
    """The stamp of one cache region.

    :param region: the cache region whose id is the stamp
    """

    def __init__(self, region):
        self._region = region

    @property
    def is_shared(self):
        """True if other processes read and write the same stamp."""
        return CONF.cache.enabled and CONF.cache.backend in _SHARED

    def read(self):
        """Read the current stamp, at most once for each request.

        :returns: bytes; None if no cache is shared; a new object, which
            equals no stamp, if the cache fails
        """
        if not self.is_shared:
            return None
        try:
            return self._region.region_invalidator._region_manager.region_id
        except Exception:
            LOG.warning('Cannot read the revocation stamp.', exc_info=True)
            return object()

    def last_row(self):
        """Read which row was written last.

        :returns: a :class:`Row`, or None if the cache does not know
        """
        if not self.is_shared:
            return None
        try:
            value = cache.CACHE_INVALIDATION_REGION.get(
                _ROW_KEY, ignore_expiration=True
            )
            if value is oslo_cache.NO_VALUE:
                return None
            row_id, seconds = value
        except Exception:
            LOG.warning('Cannot read the last revocation.', exc_info=True)
            return None
        return Row(row_id, _EPOCH + datetime.timedelta(seconds=seconds))

    def note_row(self, row):
        """Tell other processes of a row, before the stamp changes.

        :param row: a :class:`Row`, committed
        """
        if self.is_shared:
            seconds = calendar.timegm(row.revoked_at.timetuple())
            cache.CACHE_INVALIDATION_REGION.set(_ROW_KEY, [row.id, seconds])
