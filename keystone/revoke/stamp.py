# SPDX-License-Identifier: Apache-2.0

"""The stamp: a version of the revocation event table in the shared cache.

Each revocation changes the id of the ``revoke`` cache region after its commit.
This id is the stamp: while it is unchanged, nothing was revoked through
Keystone, nodes of an earlier release included. The id also contains the id of
the written row, for which the reader of a new stamp can look.
"""

import calendar
import collections
import datetime

from oslo_log import log

from keystone.common.cache import shared

LOG = log.getLogger(__name__)

_EPOCH = datetime.datetime(1970, 1, 1)

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
        """Whether other processes read and write the same stamp."""
        return shared.is_shared()

    @property
    def _manager(self):
        return self._region.region_invalidator._region_manager

    def read(self):
        """Read the current stamp, at most once per request.

        :returns: bytes; None without a shared cache; a new object, unequal to
            any stamp, if the cache fails
        """
        if not self.is_shared:
            return None
        try:
            return self._manager.region_id
        except Exception:
            LOG.warning('Failed to read the revocation stamp.', exc_info=True)
            return object()

    def row_of(self, stamp):
        """The row written last before a stamp.

        :param stamp: result of :meth:`read`
        :returns: a :class:`Row`, or None if unknown
        """
        if not isinstance(stamp, bytes):
            return None
        try:
            row_id, seconds = map(int, shared.tag_of(stamp).split(b':'))
        except (ValueError, OverflowError):
            # Written by an earlier release, or by a reader on a miss.
            return None
        return Row(row_id, _EPOCH + datetime.timedelta(seconds=seconds))

    def note_row(self, row):
        """Announce a row to other processes, with the next stamp.

        :param row: a :class:`Row`, committed by this thread
        """
        if self.is_shared:
            seconds = calendar.timegm(row.revoked_at.timetuple())
            shared.put_tag(self._manager, b'%d:%d' % (row.id, seconds))
