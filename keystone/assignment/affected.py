# SPDX-License-Identifier: Apache-2.0

"""Invalidation of the role assignments affected by a change.

Upstream invalidates the computed assignments of all users at each change.
Here, the key of values computed for one user contains an id of that user, ids
of the groups given for the user, and, if it concerns more than one scope, an
id of all projects and domains. The key of any other list contains an id of all
lists. A change renews the ids that it affects. It also renews the region id,
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
_PROJECTS = 'assignments: projects'
_SCOPES = ('project_id', 'domain_id', 'system')


def _id_of(user_or_group_id: str) -> str:
    return f'assignments: {user_or_group_id}'


def kept_by_user(
    region: dogpile_region.CacheRegion,
) -> dogpile_region.CacheRegion:
    """Add the ids of users and groups to the keys of a region."""
    generator = region.function_key_generator

    def of_function(namespace: str, function: Callable, **kwargs: Any) -> Any:
        generate = generator(namespace, function, **kwargs)
        signature = inspect.signature(function)

        def key(*args: Any, **kwargs: Any) -> str:
            arguments = signature.bind(*args, **kwargs).arguments
            read = _manager(region).ids.read
            ids = ':'.join(repr(read(name)) for name in _ids(arguments))
            return f'{generate(*args, **kwargs)}:{ids}'

        return key

    region.function_key_generator = of_function
    return region


def _ids(arguments: dict[str, Any]) -> tuple[str, ...]:
    """Names of the ids for the arguments of a function."""
    if 'role_ids' in arguments:
        # Changes of implied roles invalidate the whole region.
        return ()
    user_id = arguments.get('user_id') or arguments.get('trustor_id')
    if not user_id or arguments.get('include_names'):
        return (_LISTS,)
    ids = tuple(map(_id_of, (user_id, *arguments.get('group_ids', ()))))
    is_of_one_scope = any(map(arguments.get, _SCOPES))
    if is_of_one_scope and not arguments.get('include_subtree'):
        return ids
    return (*ids, _PROJECTS)


def drop(
    region: dogpile_region.CacheRegion,
    user_id: str | None = None,
    group_id: str | None = None,
) -> None:
    """Invalidate values computed for a user, or for the members of a group."""
    if user_id:
        _drop(region, (user_id,))
    elif group_id:
        drop_group(region, group_id, members(group_id))
    else:
        region.invalidate()


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


def drop_group(
    region: dogpile_region.CacheRegion,
    group_id: str,
    user_ids: list[str] | None,
) -> None:
    """Invalidate values computed for a group; everything, if it is large.

    :param user_ids: the members of the group, None if unknown
    """
    if user_ids is None or len(user_ids) > _LARGEST_GROUP:
        region.invalidate()
    else:
        _drop(region, (group_id, *user_ids))


def drop_lists(region: dogpile_region.CacheRegion) -> None:
    """Invalidate lists of projects, domains and assignments, but no roles."""
    after_write.invalidate(_Part(_manager(region), (_PROJECTS,)))


def _drop(
    region: dogpile_region.CacheRegion, actor_ids: tuple[str, ...]
) -> None:
    ids = tuple(map(_id_of, actor_ids))
    after_write.invalidate(_Part(_manager(region), ids))


def _manager(region: dogpile_region.CacheRegion) -> Any:
    return region.region_invalidator._region_manager


class _Part:
    """A part of the region, with the interface of a region manager."""

    def __init__(self, manager: Any, names: tuple[str, ...]) -> None:
        self.REGION_KEY_PREFIX = manager.REGION_KEY_PREFIX
        self.is_region_key = manager.is_region_key
        self._manager = manager
        self._names = names

    def invalidate_region(self) -> None:
        ids = self._manager.ids
        for name in (*self._names, _LISTS):
            ids.write(name)
        ids.write_keeping_base(self._manager.name)
