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

"""Whether the cache servers answer, as far as this process has seen.

A server that is gone can take seconds to say so, and a request asks it many
times. Here the first failure counts for all that follow within some seconds.
"""

import time

from oslo_log import log

LOG = log.getLogger(__name__)

#: What :meth:`Health.attempt` returns for a call that failed.
FAILED = object()

# Seconds for which the servers are left alone: at least, at most, and for
# each second that the failure took.
_SHORTEST_REST = 1
_LONGEST_REST = 10
_REST_PER_SECOND = 10


class Health:
    """The state of the cache servers.

    Any number of threads may use it.

    :param clock: callable, returns seconds that never go back
    """

    def __init__(self, clock=time.monotonic):
        self._clock = clock
        self._rests_until = clock()

    @property
    def is_resting(self):
        """True while the servers are left alone."""
        return self._clock() < self._rests_until

    def attempt(self, function, *args):
        """Call a function that asks a cache server.

        :returns: what the function returns; :data:`FAILED` if it raised an
            error, or was not called because the servers are left alone
        """
        if self.is_resting:
            return FAILED
        began = self._clock()
        try:
            return function(*args)
        except Exception as error:
            now = self._clock()
            rest = min(
                max(_SHORTEST_REST, _REST_PER_SECOND * (now - began)),
                _LONGEST_REST,
            )
            self._rests_until = now + rest
            # No text of the error: it can name accounts.
            LOG.warning(
                'The cache has failed with %(error)s after %(took).1f '
                'seconds. For the next %(rest).0f seconds it is not asked.',
                {
                    'error': type(error).__name__,
                    'took': now - began,
                    'rest': rest,
                },
            )
            return FAILED


#: The servers of ``[cache]``, which all regions share.
SERVERS = Health()
