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

"""One computation for those that want the same at the same time."""

import threading


class Flights:
    """What is being computed, by key."""

    def __init__(self):
        self._lock = threading.Lock()
        self._under_way = {}

    def join(self, key):
        """Take part in the computation for a key.

        :returns: None for the first, who computes and calls :meth:`land`; for
            the others, a :class:`threading.Event` that is set then
        """
        with self._lock:
            landed = self._under_way.get(key)
            if landed is None:
                self._under_way[key] = threading.Event()
            return landed

    def land(self, key):
        """Tell the others that the computation is over, however it ended."""
        with self._lock:
            landed = self._under_way.pop(key, None)
        if landed is not None:
            landed.set()
