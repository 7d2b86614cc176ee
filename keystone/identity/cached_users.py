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

"""Cached users, each under a version that a write to the user drops."""

from typing import Any

from keystone.common import cache
from keystone.common.cache import versions


def keep_versions() -> None:
    """Let the keys of users hold their versions."""
    versions.in_keys(cache.CACHE_REGION, _subject)


def _subject(name: str, arguments: dict[str, Any]) -> str | None:
    if name == 'get_user':
        return _by_id(arguments['user_id'])
    if name == 'get_user_by_name':
        return _by_name(arguments['user_name'], arguments['domain_id'])
    return None


def _by_id(user_id: str) -> str:
    return f'user: {user_id}'


def _by_name(name: str, domain_id: str) -> str:
    return f'user: {domain_id} {name}'


def drop(user: dict[str, Any]) -> None:
    """Drop a user from the cache, for readers that are late as well.

    :param user: the user as it was before the write
    """
    subjects = (_by_id(user['id']), _by_name(user['name'], user['domain_id']))
    versions.drop(cache.CACHE_REGION, subjects)
