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

"""What the request under way has read of the cache, by its key there."""

from typing import Any

from keystone.common.cache import request_local

_VALUES = request_local.PREFIX + 'values'


def get(key: str) -> Any:
    """What was read; None if it was not, or if there is no request."""
    context = request_local.current()
    return None if context is None else _values(context).get(key)


def put(key: str, value: Any) -> None:
    """Remember what was read, until the request ends."""
    context = request_local.current()
    if context is not None:
        _values(context)[key] = value


def drop(key: str) -> None:
    """Have the request read it again."""
    context = request_local.current()
    if context is not None:
        _values(context).pop(key, None)


def _values(context: Any) -> dict[str, Any]:
    return vars(context).setdefault(_VALUES, {})
