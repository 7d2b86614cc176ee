# SPDX-License-Identifier: Apache-2.0

"""What the shared cache tells about the table of revocation events.

Each revocation changes the id of the ``revoke`` cache region after its commit.
That id is the stamp: while it stays the same, nothing was revoked through
Keystone, by this release or an unpatched one. The id also names the row that
was written, which the reader of a new stamp can look for.
"""

import calendar
import collections
import datetime

from oslo_log import log

from keystone.common.cache import id_note
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
        """True if other processes read and write the same stamp."""
        return shared.is_shared()

    @property
    def _manager(self):
        return self._region.region_invalidator._region_manager

    def read(self):
        """Read the current stamp, at most once for each request.

        :returns: bytes; None if no cache is shared; a new object, which
            equals no stamp, if the cache fails
        """
        if not self.is_shared:
            return None
        try:
            return self._manager.region_id
        except Exception:
            LOG.warning('Failed to read the revocation stamp.', exc_info=True)
            return object()

    def row_of(self, stamp):
        """Tell which row was written last before a stamp.

        :param stamp: what :meth:`read` returned
        :returns: a :class:`Row`, or None if the stamp does not tell
        """
        if not isinstance(stamp, bytes):
            return None
        try:
            row_id, seconds = map(int, id_note.read(stamp).split(b':'))
        except (ValueError, OverflowError):
            # Written by an unpatched Keystone, or by a reader that found none.
            return None
        return Row(row_id, _EPOCH + datetime.timedelta(seconds=seconds))

    def note_row(self, row):
        """Tell other processes of a row, by the stamp that comes next.

        :param row: a :class:`Row`, committed by this thread
        """
        if self.is_shared:
            seconds = calendar.timegm(row.revoked_at.timetuple())
            id_note.put(self._manager, b'%d:%d' % (row.id, seconds))
