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

"""Whether facts are as they were, each read once while nothing is changed."""

from typing import Any

from keystone.common.cache import facts
from keystone.common.cache import health


class Compared:
    """What one process has read of the facts, under the stamps it has.

    Any number of threads may use it: what they read at the same time they
    read twice.
    """

    def __init__(self) -> None:
        self._seen: tuple[Any, dict[str, Any]] = (None, {})

    def are_same(self, wanted: dict[str, facts.Fact], stamps: Any) -> bool:
        """Tell whether facts are what they were.

        :param wanted: the facts by their keys
        :param stamps: the current
            :class:`~keystone.common.cache.stamps.Stamps`, read before
        """
        of_stamps, found = self._seen
        if of_stamps is not stamps:
            found = {}
            self._seen = (stamps, found)
        missing = {
            key: fact for key, fact in wanted.items() if key not in found
        }
        if missing:
            read = health.SERVERS.attempt(facts.read, missing)
            if read is health.FAILED:
                return False
            found.update(read)
        return all(
            found[key] == fact.fingerprint for key, fact in wanted.items()
        )


#: What this process has read.
COMPARED = Compared()
