# SPDX-License-Identifier: Apache-2.0

"""The ids of revocation events that a process has seen."""

import array
import bisect
import collections

import keystone.conf
from keystone.revoke.backends import incremental

CONF = keystone.conf.CONF

# Seconds for which ids are remembered while they are few, and that number.
_LONG = 3600
_FEW = 5000


class SeenIds:
    """The ids that were seen, down to where new events can still appear.

    An event gets its id before it is committed, in steps that differ between
    the nodes of a cluster, so it can appear below ids that were seen before,
    but not below those seen before its transaction started. This is the floor:
    as of an hour ago while there are few ids above it, and otherwise as of
    ``[revoke] sync_overlap`` seconds ago.

    :param clock: callable, returns monotonic seconds
    """

    def __init__(self, clock):
        self._clock = clock
        self.reset(0, ())

    def reset(self, floor, ids):
        """Replace the ids and the floor.

        :param floor: id below which no new events can appear
        :param ids: iterable of ids; those up to the floor are ignored
        """
        self._floor = floor
        self.replace(ids)
        # (seconds, highest id seen by then), in chronological order
        self._marks = collections.deque([(self._clock(), self.last)])

    def replace(self, ids):
        """Replace the ids, keeping the floor."""
        above = {row_id for row_id in ids if row_id > self._floor}
        self._ids = array.array('q', sorted(above))
        self._total = sum(self._ids)

    @property
    def last(self):
        """The highest id seen."""
        return self._ids[-1] if self._ids else self._floor

    def known(self):
        """The known ids to compare with the database, a ``Known``."""
        return incremental.Known(
            self._floor, self.last, len(self._ids), self._total
        )

    def __contains__(self, row_id):
        place = bisect.bisect_left(self._ids, row_id)
        return place < len(self._ids) and self._ids[place] == row_id

    def add(self, row_id):
        """Add an id; return whether it is above the floor, and new."""
        if row_id <= self._floor or row_id in self:
            return False
        bisect.insort(self._ids, row_id)
        self._total += row_id
        return True

    def raise_floor(self):
        """Forget the ids below which no new events can appear."""
        now, marks, floor = self._clock(), self._marks, self._floor
        if not marks or marks[-1][1] != self.last and now >= marks[-1][0] + 1:
            marks.append((now, self.last))
        age = _LONG if len(self._ids) <= _FEW else CONF.revoke.sync_overlap
        while marks and now - marks[0][0] >= age:
            floor = marks.popleft()[1]
        if floor > self._floor:
            self._floor = floor
            gone = self._ids[: bisect.bisect_right(self._ids, floor)]
            self._total -= sum(gone)
            del self._ids[: len(gone)]
