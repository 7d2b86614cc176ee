# SPDX-License-Identifier: Apache-2.0

"""Roles of system, trust and federated tokens.

Stock resolves them from the database for each token that it validates. Here,
their ids are cached in the region of computed assignments, and invalidated by
the changes that they depend on. Group memberships that change without a write
to Keystone are not: the roles of such users on the system are not cached, and
on a project or domain not for longer than in stock.
"""

from collections.abc import Callable
import functools
import types
from typing import Any

import sqlalchemy

from keystone.assignment import core
from keystone.common import cache
from keystone.common import provider_api
from keystone.common import sql

PROVIDERS = provider_api.ProviderAPIs

_MEMOIZE = cache.get_memoization_decorator(
    group='token', region=core.COMPUTED_ASSIGNMENTS_REGION
)


# Attribute of a token model with its roles.
_ROLES = '_resolved_roles'


def once(resolve: Callable[[Any], list[dict]]) -> Callable:
    """Decorate the method of a token model that returns its roles.

    They are resolved once for each model, which lives for one request, since
    tokens are not cached.
    """

    @functools.wraps(resolve)
    def wrapper(token: Any) -> list[dict]:
        if _ROLES not in vars(token):
            setattr(token, _ROLES, resolve(token))
        return [dict(role) for role in getattr(token, _ROLES)]

    return wrapper


def _model(user_id, group_ids, project_id, domain_id, system):
    """What a method sees in place of a token model."""
    return types.SimpleNamespace(
        user_id=user_id,
        federated_groups=[{'id': group_id} for group_id in group_ids],
        project_id=project_id,
        domain_id=domain_id,
        system=system,
    )


def cached(*names: str) -> Callable:
    """Decorate a method of a token model that resolves its roles.

    The method is called with the attributes in the key of the cached value,
    and no others, in place of the model.

    :param names: attributes that the method returns of each role; all if none
        are given
    """

    def decorate(resolve: Callable[[Any], list[dict]]) -> Callable:
        def role_ids(user_id, group_ids, project_id, domain_id, system, own):
            token = _model(user_id, group_ids, project_id, domain_id, system)
            roles = resolve(token)
            if system and _memberships_change(user_id):
                return None
            if _own_roles(token) != own:
                # Read anew in between.
                return None
            return [role['id'] for role in roles]

        role_ids.__name__ = resolve.__name__  # in the key
        cached_ids = _MEMOIZE(role_ids)

        @functools.wraps(resolve)
        def wrapper(token: Any) -> list[dict]:
            group_ids = [group['id'] for group in token.federated_groups or ()]
            scope = (token.project_id, token.domain_id, token.system)
            own = _own_roles(token)
            found = cached_ids(token.user_id, group_ids, *scope, own)
            if found is None:
                return resolve(token)
            roles = map(PROVIDERS.role_api.get_role, found)
            return [
                {name: role[name] for name in names or role} for role in roles
            ]

        return wrapper

    return decorate


def _own_roles(token: Any) -> list[str]:
    """Ids of the roles of a user on a project or domain, as stock caches them.

    They are part of the key of the roles computed from them: otherwise, a
    membership that has ended would count for two cache times.
    """
    assignments, roles = PROVIDERS.assignment_api, []
    if token.project_id:
        roles = assignments.get_roles_for_user_and_project(
            token.user_id, token.project_id
        )
    elif token.domain_id:
        roles = assignments.get_roles_for_user_and_domain(
            token.user_id, token.domain_id
        )
    return sorted(roles)


def _memberships_change(user_id: str) -> bool:
    """Whether the groups of a user change without a write to Keystone.

    They do in a directory, and if an identity provider has to confirm them.
    """
    identity = PROVIDERS.identity_api
    _domain, driver, _id = identity._get_domain_driver_and_entity_id(user_id)
    if not driver.is_sql:
        return True
    expiring = sql.ModelBase.metadata.tables['expiring_user_group_membership']
    query = sqlalchemy.select(expiring.c.user_id).where(
        expiring.c.user_id == user_id
    )
    with sql.session_for_read() as session:
        return session.execute(query).first() is not None


@_MEMOIZE
def _with_implied(role_ids: list[str]) -> list[str]:
    refs = [{'role_id': role_id} for role_id in role_ids]
    expanded = PROVIDERS.assignment_api.add_implied_roles(refs)
    return sorted({ref['role_id'] for ref in expanded})


def with_implied(refs: list[dict[str, str]]) -> list[dict[str, str]]:
    """Add the roles that others imply, like ``add_implied_roles``.

    :param refs: list of {'role_id': id}
    :returns: list of the same form, each role once
    """
    role_ids = _with_implied([ref['role_id'] for ref in refs])
    return [{'role_id': role_id} for role_id in role_ids]
