# SPDX-License-Identifier: Apache-2.0

"""Invalidation of the role assignments affected by a change.

Upstream invalidates the computed assignments of all users at each change.
Here, a change renews the ids of :mod:`.user_keys` that it affects. It also
renews the region id, for other releases that only know that one.

The database tells whom a deletion affects, as it returns the deleted rows. A
list read before or after would lack those added or removed meanwhile.
"""

from collections.abc import Callable
from collections.abc import Collection
from collections.abc import Iterable
import contextvars
import functools
from typing import Any
from typing import NamedTuple

from dogpile.cache import region as dogpile_region
import sqlalchemy

from keystone.assignment import user_keys
from keystone.common.cache import after_write
from keystone.common import provider_api
from keystone.common import sql

PROVIDERS = provider_api.ProviderAPIs

# Maximum number of users who are invalidated individually, in one round trip.
_MOST_USERS = 1000
# Tables of the members of groups; those from an identity provider expire.
_MEMBERSHIPS = 'user_group_membership', 'expiring_user_group_membership'

_ASSIGNMENTS = 'assignment', 'system_assignment'
_RULES = 'implied_role'

#: What refers to a role.
OF_ROLE = (*_ASSIGNMENTS, _RULES)
#: What refers to a domain.
OF_DOMAIN = ('assignment',)


class _Actor(NamedTuple):
    """A user or a group."""

    id: str
    is_group: bool = False


class _Deletion(NamedTuple):
    """A deletion in progress.

    :ivar region: of computed assignments
    :ivar reported: tables from which the driver has reported whom the deletion
        affects, and groups whose members it has reported
    """

    region: dogpile_region.CacheRegion
    reported: set[str]


_deletion: contextvars.ContextVar[_Deletion | None] = contextvars.ContextVar(
    'deletion', default=None
)


def drop(
    region: dogpile_region.CacheRegion,
    user_id: str | None = None,
    group_id: str | None = None,
) -> None:
    """Invalidate values computed for a user, or for the members of a group."""
    if user_id:
        _drop(region, [_Actor(user_id)])
    elif group_id:
        _drop(region, [_Actor(group_id, is_group=True)])
    else:
        region.invalidate()


def drop_lists(region: dogpile_region.CacheRegion) -> None:
    """Invalidate lists, which contain attributes of projects; not roles."""
    after_write.invalidate(_Part(user_keys.manager_of(region)))


def drop_users(
    region: dogpile_region.CacheRegion, user_ids: Collection[str]
) -> None:
    """Invalidate values computed for one or more users."""
    _drop(region, map(_Actor, user_ids))


def _drop(
    region: dogpile_region.CacheRegion, actors: Iterable[_Actor]
) -> None:
    after_write.invalidate(
        _Part(user_keys.manager_of(region), frozenset(actors))
    )


def deletion(
    region: dogpile_region.CacheRegion, tables: Collection[str] = ()
) -> Callable:
    """Decorate a function that deletes a group, a role or a domain.

    Its driver reports whom that affects, with the functions below. They are
    invalidated at once and when the function has returned or raised.

    :param tables: those that the driver must report; otherwise, all
        assignments are invalidated
    """

    def decorate(delete: Callable) -> Callable:
        delete_and_drop = after_write.invalidate_again(delete)

        @functools.wraps(delete)
        def wrapper(*args: Any, **kwargs: Any) -> Any:
            current = _Deletion(region, set())
            reset = _deletion.set(current)
            try:
                result = delete_and_drop(*args, **kwargs)
            finally:
                _deletion.reset(reset)
            if not current.reported.issuperset(tables):
                region.invalidate()
            return result

        return wrapper

    return decorate


def remove_members(session: Any, group_id: str) -> None:
    """Remove the members of a group that is deleted in the transaction."""
    _lock(session, 'group', group_id)
    for name in _MEMBERSHIPS:
        table = sql.ModelBase.metadata.tables[name]
        _report(name, _delete(session, table, table.c.group_id == group_id))
    _report(group_id, [])


def delete_assignments(query: Any) -> None:
    """Delete the assignments that an ORM query finds."""
    table = query.column_descriptions[0]['entity'].__table__
    _report(table.name, _delete(query.session, table, query.whereclause))


def remove_references(session: Any, role_id: str) -> None:
    """Lock a role that is deleted in the transaction, and remove references.

    Assignments made since they were deleted are deleted as well. If the role
    implies others, or they imply it, all assignments are invalidated.
    """
    _lock(session, 'role', role_id)
    for name in _ASSIGNMENTS:
        table = sql.ModelBase.metadata.tables[name]
        actors = _delete(session, table, table.c.role_id == role_id)
        # Not as its table: another driver may have the assignments.
        _report(_RULES, actors)
    rule = sql.ModelBase.metadata.tables['implied_role'].c
    rules = sqlalchemy.select(rule.prior_role_id).where(
        (rule.prior_role_id == role_id) | (rule.implied_role_id == role_id)
    )
    # A locking read sees what was committed since the transaction began.
    found = session.execute(rules.with_for_update()).first()
    _report(_RULES, None if found else [])


def _lock(session: Any, table: str, id_: str) -> None:
    """Let no other transaction refer to a row before it is deleted."""
    column = sql.ModelBase.metadata.tables[table].c.id
    row = sqlalchemy.select(column).where(column == id_)
    session.execute(row.with_for_update())


def _delete(session: Any, table: Any, where: Any) -> list[_Actor] | None:
    """Delete rows of a table.

    :returns: the users and groups in them; None if the database does not tell
    """
    statement = sqlalchemy.delete(table).where(where)
    if not session.get_bind().dialect.delete_returning:
        return None if session.execute(statement).rowcount else []
    rows = session.execute(statement.returning(*table.c)).mappings()
    return [
        _Actor(row['actor_id'], row['type'].startswith('Group'))
        if 'actor_id' in row
        else _Actor(row['user_id'])
        for row in rows
    ]


def _report(name: str, actors: Collection[_Actor] | None) -> None:
    """Invalidate whom a deletion affects; all if the actors are unknown."""
    current = _deletion.get()
    if current is None:
        return
    current.reported.add(name)
    if actors is None:
        current.region.invalidate()
    elif actors:
        _drop(current.region, actors)


def _with_members(group_id: str) -> list[str] | None:
    """Ids of a group and all users in it; None if unknown, or too many.

    Members are listed at the end of the write that changes the roles of the
    group, once more than at its beginning. A value computed before contains
    these roles if its user was a member. Either the user still is, and is
    listed, or the removal has invalidated the user, or does so when it
    completes. The addition of a user who is not listed yet does the same, and
    the roles are read anew after that.
    """
    current = _deletion.get()
    if current is not None and group_id in current.reported:
        # The members of a group that is being deleted.
        return [group_id]
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
    ).limit(_MOST_USERS + 1)
    try:
        with sql.session_for_read() as session:
            if session.execute(is_known).first() is None:
                # It is in the directory of a domain.
                return None
            found = session.execute(users).scalars().all()
    except Exception:
        # The change may have taken place nevertheless.
        return None
    return [group_id, *found] if len(found) <= _MOST_USERS else None


class _Part(NamedTuple):
    """A part of a region: of users and groups, or lists of projects."""

    manager: Any
    actors: frozenset[_Actor] = frozenset()

    @property
    def _region_key(self) -> str:
        return self.manager._region_key

    def _names(self) -> list[str] | None:
        """Names of its ids; None for the whole region."""
        names: set[str] = set()
        for actor in self.actors:
            ids = _with_members(actor.id) if actor.is_group else [actor.id]
            found = ids and user_keys.names_of(ids)
            if not found or len(names) > _MOST_USERS:
                return None
            names.update(found)
        return list(names) or [user_keys.PROJECTS]

    def invalidate_region(self) -> None:
        names = self._names()
        ids = self.manager.ids
        if names and ids.delete_parts(*names, user_keys.LISTS):
            ids.write_keeping_base(self.manager.name)
        else:
            self.manager.invalidate_region()
