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

"""Differences between stock and patched Keystone that are meant.

Each stands for a topic: stock answers wrongly there, without any cache.
"""


class Known:
    """Tells the differences that a story explains."""

    def __init__(self):
        self._steps = []

    def note(self, step, side):
        """Take a step of the story into account.

        :param side: the patched cloud, after the step
        """
        self._steps.append(step)

    def topic(self, difference):
        """Name of the topic that explains a difference, or None."""
        return None
