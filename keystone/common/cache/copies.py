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

"""Serialized values in the memory of this process, and their bounds."""

import collections
import threading
import time

from keystone.common import after_fork

# Bytes that an entry takes besides its key and its value: the objects around
# them, and its place in the dictionary.
OVERHEAD = 500

_Entry = collections.namedtuple('_Entry', ('value', 'stamp', 'made_at'))


class Copies:
    """Copies of values, the oldest of which go first.

    Any number of threads may use it. Looking a copy up takes no lock. A
    forked process begins with none.

    :param clock: callable, returns seconds that never go back
    """

    def __init__(self, clock=time.monotonic):
        self._clock = clock
        self._forget()
        after_fork.call(self._forget)

    def _forget(self):
        self._lock = threading.Lock()
        # In the order in which they were made: the oldest is the first.
        self._entries = collections.OrderedDict()
        self._bytes = 0

    def __len__(self):
        return len(self._entries)

    @property
    def bytes(self):
        """Memory that the copies take."""
        return self._bytes

    def get(self, key, stamp, max_age):
        """Look a copy up.

        :param stamp: what it has to be valid under
        :param max_age: seconds
        :returns: bytes, or None if there is no such copy
        """
        entry = self._entries.get(key)
        if entry is None or entry.stamp != stamp:
            return None
        if not 0 <= self._clock() - entry.made_at < max_age:
            return None
        return entry.value

    def put(self, key, value, stamp, max_age, max_entries, max_bytes):
        """Keep a copy in place of an earlier one.

        :param value: bytes
        :param stamp: what the value was valid under before it was read
        :param max_age: seconds after which a copy is of no use
        """
        size = _size(key, value)
        if size > max_bytes // 4:
            self.drop(key)
            return
        now = self._clock()
        with self._lock:
            self._remove(key)
            self._entries[key] = _Entry(value, stamp, now)
            self._bytes += size
            while self._bytes > max_bytes or len(self) > max_entries:
                self._remove(next(iter(self._entries)))
            self._remove_aged(now - max_age)

    def drop(self, key):
        """Forget a copy, if there is one."""
        if key in self._entries:
            with self._lock:
                self._remove(key)

    def clear(self):
        """Forget all copies."""
        with self._lock:
            self._entries.clear()
            self._bytes = 0

    def _remove(self, key):
        entry = self._entries.pop(key, None)
        if entry is not None:
            self._bytes -= _size(key, entry.value)

    def _remove_aged(self, made_before):
        while self._entries:
            key, entry = next(iter(self._entries.items()))
            if entry.made_at > made_before:
                break
            self._remove(key)


def _size(key, value):
    return len(key) + len(value) + OVERHEAD
