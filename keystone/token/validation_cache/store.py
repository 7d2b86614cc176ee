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

"""The entries of one process: as many as fit, the latest used ones."""

import collections
import threading


class Store:
    """Entries by key, bounded in number and in bytes.

    Any number of threads may use it.

    :param counts: a
        :class:`~keystone.token.validation_cache.counts.Counts`, in which
        ``evicted`` is counted
    """

    def __init__(self, counts):
        self._counts = counts
        self._lock = threading.Lock()
        self._entries = collections.OrderedDict()
        # {pieces of a body: how many entries share them}
        self._shared = {}
        self._bytes = 0

    def get(self, key):
        """Find an entry; it counts as the latest used.

        :returns: an :class:`~keystone.token.validation_cache.entry.Entry`, or
            None
        """
        with self._lock:
            entry = self._entries.get(key)
            if entry is not None:
                self._entries.move_to_end(key)
            return entry

    def put(self, key, entry, most_entries, most_bytes):
        """Keep an entry, unless there is one of a later request.

        :param most_entries: how many entries to keep
        :param most_bytes: how many bytes they may take
        """
        with self._lock:
            known = self._entries.get(key)
            if known is not None:
                if known.began > entry.began:
                    return
                self._take_out(key)
            self._put_in(key, entry)
            while self._entries and (
                len(self._entries) > most_entries or self._bytes > most_bytes
            ):
                self._take_out(next(iter(self._entries)))
                self._counts.note('evicted')

    def drop(self, key, entry):
        """Forget an entry, if it is still there."""
        with self._lock:
            if self._entries.get(key) is entry:
                self._take_out(key)

    def clear(self):
        """Forget all entries."""
        with self._lock:
            self._entries.clear()
            self._shared.clear()
            self._bytes = 0

    def status(self):
        """Tell how full it is.

        :returns: dict with the numbers of ``entries``, of ``bytes`` and of
            ``shared`` parts
        """
        return {
            'entries': len(self._entries),
            'bytes': self._bytes,
            'shared': len(self._shared),
        }

    def _put_in(self, key, entry):
        answer = entry.answer
        known = self._shared.get(answer.pieces)
        if known is None:
            known = self._shared[answer.pieces] = [answer.pieces, 0]
            self._bytes += answer.shared_size
        answer.pieces = known[0]
        known[1] += 1
        self._bytes += entry.own_size
        self._entries[key] = entry

    def _take_out(self, key):
        entry = self._entries.pop(key)
        answer = entry.answer
        known = self._shared[answer.pieces]
        known[1] -= 1
        if not known[1]:
            del self._shared[answer.pieces]
            self._bytes -= answer.shared_size
        self._bytes -= entry.own_size
