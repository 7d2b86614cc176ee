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

"""Which ids of the cache regions this process knows to be outdated.

A write that a cache server has not taken leaves the old id there, and a server
that comes back after a partition brings one along. Values that were
invalidated would be in force again. So a process remembers the ids that others
have taken the place of.
"""

import collections
import itertools
import threading

from keystone.common import after_fork

# How many outdated ids of one region are remembered. Of the region that
# changes most, that of revocations, these are the last minutes of a busy
# cloud; most change a few times a day.
_REMEMBERED = 1000


class IdHistory:
    """The order in which this process has seen the ids of each region.

    Reads and writes of several threads overlap, and then do not tell which id
    is newer. An id counts as newer than another only if the read or write that
    brought it began when the other was already known.
    """

    def __init__(self):
        #: How often the ids that are in force have, or may have, changed.
        self.changes = 0
        self._moments = itertools.count()
        self._latest = {}
        self._outdated = collections.defaultdict(collections.OrderedDict)
        self._start_in_process()
        after_fork.call(self._start_in_process)

    def _start_in_process(self):
        self._lock = threading.Lock()

    def now(self):
        """A moment, later than all before."""
        return next(self._moments)

    def knows(self, key):
        """Whether an id of a region has been seen."""
        return key in self._latest

    def seen(self, key, region_id, began):
        """Note an id that the server has, as far as this process knows.

        :param key: names the region
        :param began: moment when the read, or write, began
        """
        if self._latest.get(key, (None,))[0] == region_id:
            return
        with self._lock:
            self.changes += 1
            latest, since = self._latest.get(key, (None, -1))
            if began <= since:
                return
            moment = self.now()
            if latest is not None:
                self._retire(key, latest, moment)
            self._latest[key] = (region_id, moment)

    def outdate(self, key):
        """Note that the id a region has must not be used any more."""
        with self._lock:
            latest, _since = self._latest.get(key, (None, -1))
            if latest is not None:
                self._retire(key, latest, self.now())
                self.changes += 1

    def is_outdated(self, key, region_id, began):
        """Tell whether an id was outdated before it was read.

        :param began: moment when the read began
        """
        since = self._outdated.get(key, {}).get(region_id)
        return since is not None and since < began

    def _retire(self, key, region_id, moment):
        outdated = self._outdated[key]
        outdated.setdefault(region_id, moment)
        if len(outdated) > _REMEMBERED:
            outdated.popitem(last=False)
