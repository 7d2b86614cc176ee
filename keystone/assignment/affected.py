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
from collections.abc import Collection
import contextvars
import inspect
import re
from typing import Any
from typing import NamedTuple

from dogpile.cache import region as dogpile_region
import sqlalchemy

from keystone.common.cache import after_write
from keystone.common import provider_api
from keystone.common import sql
from keystone import exception

PROVIDERS = provider_api.ProviderAPIs

# Largest group whose members are invalidated individually: by one round trip
# to the cache server for each of them.
_LARGEST_GROUP = 100
# Tables of the members of groups; those from an identity provider expire.
_MEMBERSHIPS = 'user_group_membership', 'expiring_user_group_membership'
_LISTS = 'assignments: lists'
_PROJECTS = 'assignments: projects'
# Of an id with these characters, databases find other spellings only in case.
_PLAIN = re.compile('[0-9A-Za-z_.@-]+')

# The group last deleted in this context, and those who were its members.
_deleted: contextvars.ContextVar[tuple[Any, Collection[str]]] = (
    contextvars.ContextVar('deleted group', default=(None, ()))
)


def _names_of(actor_ids: Collection[str]) -> list[str] | None:
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
            read = _manager(region).ids.read_part
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
    ids = _names_of((user_id, *arguments.get('group_ids', ())))
    if ids is None:
        # Renewed by each change.
        return (_LISTS,)
    return tuple(ids) if _is_of_one_scope(arguments) else (*ids, _PROJECTS)


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


def drop(
    region: dogpile_region.CacheRegion,
    user_id: str | None = None,
    group_id: str | None = None,
) -> None:
    """Invalidate values computed for a user, or for the members of a group."""
    if user_id or group_id:
        after_write.invalidate(_Part(_manager(region), user_id, group_id))
    else:
        region.invalidate()


def drop_lists(region: dogpile_region.CacheRegion) -> None:
    """Invalidate lists of projects, domains and assignments, but no roles."""
    after_write.invalidate(_Part(_manager(region)))


def remove_members(session: Any, group_id: str) -> None:
    """Remove the members of a group that is deleted in the same transaction.

    They are remembered, for :func:`drop`. If the database cannot tell who was
    removed, all assignments are invalidated.
    """
    if not session.get_bind().dialect.delete_returning:
        return
    removed: list[str] = []
    for name in _MEMBERSHIPS:
        table = sql.ModelBase.metadata.tables[name]
        removal = sqlalchemy.delete(table).where(table.c.group_id == group_id)
        removal = removal.returning(table.c.user_id)
        removed.extend(session.execute(removal).scalars())
    _deleted.set((group_id, removed))


def _with_members(group_id: str) -> list[str] | None:
    """Ids of a group and all users in it; None if unknown, or too many.

    The members of a deleted group are those who were removed with it.

    They are listed at the end of the write that changes the roles of the
    group, once more than at its beginning. A value computed before contains
    these roles if its user was a member. Either the user still is, and is
    listed, or the removal has invalidated the user, or does so when it
    completes. The addition of a user who is not listed yet does the same, and
    the roles are read anew after that.
    """
    # A directory may not list all members, and changes without notice.
    if not PROVIDERS.identity_api.driver.is_sql:
        return None
    tables = sql.ModelBase.metadata.tables
    group = tables['group'].c
    memberships = [tables[name].c for name in _MEMBERSHIPS]
    is_known = sqlalchemy.select(group.id).where(group.id == group_id)
    users = sqlalchemy.union(
        *(
            sqlalchemy.select(one.user_id).where(one.group_id == group_id)
            for one in memberships
        )
    ).limit(_LARGEST_GROUP + 1)
    try:
        with sql.session_for_read() as session:
            deleted, removed = _deleted.get()
            if deleted != group_id:
                removed = ()
                # Otherwise, it is in the directory of a domain.
                if session.execute(is_known).first() is None:
                    return None
            found = {*removed, *session.execute(users).scalars()}
    except Exception:
        # The change may have taken place nevertheless.
        return None
    return [group_id, *found] if len(found) <= _LARGEST_GROUP else None


def _manager(region: dogpile_region.CacheRegion) -> Any:
    return region.region_invalidator._region_manager


class _Part(NamedTuple):
    """A part of a region: of a user, a group, or lists of projects."""

    manager: Any
    user_id: str | None = None
    group_id: str | None = None

    @property
    def _region_key(self) -> str:
        return self.manager._region_key

    def _names(self) -> list[str] | None:
        """Names of its ids; None for the whole region."""
        if self.user_id:
            return _names_of([self.user_id])
        if not self.group_id:
            return [_PROJECTS]
        actor_ids = _with_members(self.group_id)
        return actor_ids and _names_of(actor_ids)

    def invalidate_region(self) -> None:
        names = self._names()
        ids = self.manager.ids
        if names and ids.write_parts(*names, _LISTS):
            ids.write_keeping_base(self.manager.name)
        else:
            self.manager.invalidate_region()
