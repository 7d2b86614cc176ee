# SPDX-License-Identifier: Apache-2.0

"""Invalidation of the role assignments affected by a change.

Upstream invalidates the computed assignments of all users at each change.
Here, the key of values computed for one user in one scope contains an id of
that user, and the key of any other list an id of all lists. A change renews
the ids of the affected users and of the lists. It also renews the region id,
for other releases that only know that one.
"""

from collections.abc import Callable
import inspect
from typing import Any

from dogpile.cache import region as dogpile_region
import sqlalchemy

from keystone.common.cache import after_write
from keystone.common import provider_api
from keystone.common import sql

PROVIDERS = provider_api.ProviderAPIs

# Largest group whose members are invalidated individually.
_LARGEST_GROUP = 1000
_LISTS = 'assignments: lists'


def _id_of_user(user_id: str) -> str:
    return f'assignments: {user_id}'


def kept_by_user(
    region: dogpile_region.CacheRegion,
) -> dogpile_region.CacheRegion:
    """Add the ids of users to the keys of a region."""
    generator = region.function_key_generator

    def of_function(namespace: str, function: Callable, **kwargs: Any) -> Any:
        generate = generator(namespace, function, **kwargs)
        signature = inspect.signature(function)

        def key(*args: Any, **kwargs: Any) -> str:
            arguments = signature.bind(*args, **kwargs).arguments
            ids = _manager(region).ids
            return f'{generate(*args, **kwargs)}:{ids.read(_id(arguments))!r}'

        return key

    region.function_key_generator = of_function
    return region


def _id(arguments: dict[str, Any]) -> str:
    """Name of the id for the arguments of a function."""
    user_id = arguments.get('user_id') or arguments.get('trustor_id')
    is_scoped = arguments.get('project_id') or arguments.get('domain_id')
    if user_id and is_scoped and not arguments.get('include_names'):
        return _id_of_user(user_id)
    return _LISTS


def drop(
    region: dogpile_region.CacheRegion,
    user_id: str | None = None,
    group_id: str | None = None,
) -> None:
    """Invalidate values computed for a user, or for the members of a group."""
    if user_id:
        _drop(region, (user_id,))
    elif group_id:
        drop_members(region, group_id)
    else:
        region.invalidate()


def drop_members(region: dogpile_region.CacheRegion, group_id: str) -> None:
    """Invalidate values computed for the members of a group."""
    drop_users(region, members(group_id))


def members(group_id: str) -> list[str] | None:
    """Ids of all users in a group; None if unknown."""
    try:
        found = PROVIDERS.identity_api.list_users_in_group(group_id)
        return [user['id'] for user in found] + _federated(group_id)
    except Exception:
        # The group is deleted or its directory is unreachable, but the change
        # still took place.
        return None


def _federated(group_id: str) -> list[str]:
    """Ids of users with an expiring membership from an identity provider."""
    membership = sql.ModelBase.metadata.tables[
        'expiring_user_group_membership'
    ]
    query = sqlalchemy.select(membership.c.user_id).where(
        membership.c.group_id == group_id
    )
    with sql.session_for_read() as session:
        return list(session.execute(query).scalars())


def drop_users(
    region: dogpile_region.CacheRegion, user_ids: list[str] | None
) -> None:
    """Invalidate values computed for users; everything, if there are many.

    :param user_ids: None if unknown
    """
    if user_ids is None or len(user_ids) > _LARGEST_GROUP:
        region.invalidate()
    else:
        _drop(region, tuple(user_ids))


def drop_lists(region: dogpile_region.CacheRegion) -> None:
    """Invalidate lists of projects, domains and assignments, but no roles."""
    _drop(region, ())


def _drop(
    region: dogpile_region.CacheRegion, user_ids: tuple[str, ...]
) -> None:
    after_write.invalidate(_Part(_manager(region), user_ids))


def _manager(region: dogpile_region.CacheRegion) -> Any:
    return region.region_invalidator._region_manager


class _Part:
    """A part of the region, with the interface of a region manager."""

    def __init__(self, manager: Any, user_ids: tuple[str, ...]) -> None:
        self.REGION_KEY_PREFIX = manager.REGION_KEY_PREFIX
        self.is_region_key = manager.is_region_key
        self._manager = manager
        self._user_ids = user_ids

    def invalidate_region(self) -> None:
        ids = self._manager.ids
        for user_id in self._user_ids:
            ids.write(_id_of_user(user_id))
        ids.write(_LISTS)
        ids.write_keeping_base(self._manager.name)
