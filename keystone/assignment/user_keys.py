# SPDX-License-Identifier: Apache-2.0

"""Keys of role assignments computed for a user.

The key of values computed for one user or given groups contains an id of each
of them, and, if it concerns more than one scope, an id of all projects and
domains. The key of any other list contains an id of all lists. The ids are
parts of the region of computed assignments.

Invariant: a key contains all ids in the keys of the values that its value is
computed from. Otherwise, if those were read before a change, and the other ids
after it, an old value would be stored under current ids.
"""

from collections.abc import Callable
from collections.abc import Collection
import inspect
import re
from typing import Any

from dogpile.cache import region as dogpile_region

from keystone.common import provider_api
from keystone import exception

PROVIDERS = provider_api.ProviderAPIs

#: Names of the ids of all lists, and of all projects and domains.
LISTS = 'assignments: lists'
PROJECTS = 'assignments: projects'

# Seconds for which servers keep an id. A new one only invalidates, and users
# who are deleted leave none behind.
_SECONDS = 24 * 60 * 60

# Of an id with these characters, databases find other spellings only in case.
_PLAIN = re.compile('[0-9A-Za-z_.@-]+')


def names_of(actor_ids: Collection[str]) -> list[str] | None:
    """Names of the ids of users and groups, the same for each spelling.

    A change concerns a user whose id the database takes for equal to the given
    one, by its collation.

    :returns: None if an id may have any spelling
    """
    names = [
        f'assignments: {one.lower()}'
        for one in actor_ids
        if _PLAIN.fullmatch(one)
    ]
    return names if len(names) == len(actor_ids) else None


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
            read = manager_of(region).ids.read
            ids = [repr(read(one, _SECONDS)) for one in _ids(arguments)]
            return f'{generate(*args, **kwargs)}:{":".join(ids)}'

        return key

    region.function_key_generator = of_function
    return region


def _ids(arguments: dict[str, Any]) -> tuple[str, ...]:
    """Names of the ids for the arguments of a function."""
    if 'role_ids' in arguments:
        # Changes of implied roles invalidate the whole region.
        return ()
    user_id = arguments.get('user_id') or arguments.get('trustor_id')
    group_ids = arguments.get('group_ids')
    if arguments.get('effective'):  # otherwise, they do not matter
        group_ids = arguments.get('source_from_group_ids')
    actor_ids = [*filter(None, [user_id]), *(group_ids or ())]
    if not actor_ids or arguments.get('include_names'):
        return (LISTS,)
    ids = names_of(actor_ids)
    if ids is None:
        # Renewed by each change.
        return (LISTS,)
    return tuple(ids) if _is_of_one_scope(arguments) else (*ids, PROJECTS)


def _is_of_one_scope(arguments: dict[str, Any]) -> bool:
    """Whether changes of other projects and domains do not matter."""
    if arguments.get('system'):
        # Otherwise, it is ignored.
        return arguments['system'] == 'all' and not arguments.get('effective')
    project_id = arguments.get('project_id')
    if project_id:
        return not arguments.get('include_subtree') and _exists(project_id)
    return bool(arguments.get('domain_id'))


def _exists(project_id: str) -> bool:
    """Whether a project exists, from the cache.

    The deletion of a project does not invalidate the roles on others. Those on
    the project itself, whose key has no id of projects, are not found again.
    """
    try:
        PROVIDERS.resource_api.get_project(project_id)
        return True
    except exception.ProjectNotFound:
        return False


def manager_of(region: dogpile_region.CacheRegion) -> Any:
    """The manager of the ids of a region."""
    return region.region_invalidator._region_manager
