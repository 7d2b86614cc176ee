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

"""Whose cached role assignments a change concerns.

Upstream drops the computed assignments of everybody at each change. Here what
was computed for one user in one scope is kept under a version of that user,
and any other list under one of all lists, see
:mod:`keystone.common.cache.versions`. A change drops the versions of the users
whom it concerns, and that of the lists.
"""

from collections.abc import Iterable
from typing import Any

from dogpile.cache import region as dogpile_region

from keystone.common.cache import versions
from keystone.common import provider_api
from keystone import exception

PROVIDERS = provider_api.ProviderAPIs

# The largest group whose members are dropped one by one.
_LARGEST_GROUP = 1000
_LISTS = 'assignments: lists'


def kept_by_user(
    region: dogpile_region.CacheRegion,
) -> dogpile_region.CacheRegion:
    """Let the keys of a region hold the version of the user they are about."""
    versions.in_keys(region, _subject)
    return region


def _subject(_name: str, arguments: dict[str, Any]) -> str:
    user_id = arguments.get('user_id') or arguments.get('trustor_id')
    is_scoped = arguments.get('project_id') or arguments.get('domain_id')
    if user_id and is_scoped and not arguments.get('include_names'):
        return _of_user(user_id)
    return _LISTS


def _of_user(user_id: str) -> str:
    return f'assignments: {user_id}'


def drop(
    region: dogpile_region.CacheRegion,
    user_id: str | None = None,
    group_id: str | None = None,
) -> None:
    """Drop what was computed for a user, or for the members of a group."""
    if user_id:
        drop_users(region, [user_id])
        return
    try:
        members = PROVIDERS.identity_api.list_users_in_group(group_id)
    except exception.NotFound:
        region.invalidate()
    else:
        drop_users(region, [user['id'] for user in members])


def drop_users(
    region: dogpile_region.CacheRegion, user_ids: Iterable[str]
) -> None:
    """Drop what was computed for users; everything, if they are many."""
    subjects = [_of_user(user_id) for user_id in user_ids]
    if len(subjects) > _LARGEST_GROUP:
        region.invalidate()
    else:
        versions.drop(region, [*subjects, _LISTS])


def drop_lists(region: dogpile_region.CacheRegion) -> None:
    """Drop lists of projects, domains and assignments, and no user's roles."""
    versions.drop(region, [_LISTS])
