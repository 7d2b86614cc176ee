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

"""How much memory a value takes."""

import sys


def size_of(value):
    """Estimate the bytes of a value and of all that it holds.

    What is held twice counts twice.

    :param value: of the types that JSON has, or a set of strings
    :returns: int
    """
    size = sys.getsizeof(value)
    if isinstance(value, dict):
        size += sum(size_of(key) + size_of(one) for key, one in value.items())
    elif isinstance(value, (list, set)):
        size += sum(map(size_of, value))
    return size
