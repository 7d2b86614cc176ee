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

"""How often what happens in the validation cache."""

import collections

from keystone.common.cache import counters

CACHE = 'validation cache'


class Counts(collections.Counter):
    """Counts for the process, and for the request that the thread works on.

    Threads that count at the same time may lose one.

    :cvar cache: the name under which the request's are counted
    """

    cache = CACHE

    def note(self, what):
        """Count something.

        :param what: what happened, with its reason, as in ``miss: changed``
        """
        self[what] += 1
        counters.count(self.cache, what.replace(': ', '.'))
