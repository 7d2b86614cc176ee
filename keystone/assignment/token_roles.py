# SPDX-License-Identifier: Apache-2.0

"""Roles of system, trust and federated tokens.

Stock resolves them from the database for each token that it validates, and
caches the token. Here, their ids are cached as long, in the region of computed
assignments, and invalidated by the same changes.
"""

from collections.abc import Callable
import functools
import types
from typing import Any

from keystone.assignment import core
from keystone.common import cache
from keystone.common import provider_api

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


def cached(*names: str) -> Callable:
    """Decorate a method of a token model that resolves its roles.

    The method is called with the attributes in the key of the cached value,
    and no others, in place of the model.

    :param names: attributes that the method returns of each role; all if none
        are given
    """

    def decorate(resolve: Callable[[Any], list[dict]]) -> Callable:
        def role_ids(user_id, group_ids, project_id, domain_id, system):
            token = types.SimpleNamespace(
                user_id=user_id,
                federated_groups=[{'id': group_id} for group_id in group_ids],
                project_id=project_id,
                domain_id=domain_id,
                system=system,
            )
            return [role['id'] for role in resolve(token)]

        role_ids.__name__ = resolve.__name__  # in the key
        cached_ids = _MEMOIZE(role_ids)

        @functools.wraps(resolve)
        def wrapper(token: Any) -> list[dict]:
            group_ids = [group['id'] for group in token.federated_groups or ()]
            scope = (token.project_id, token.domain_id, token.system)
            found = cached_ids(token.user_id, group_ids, *scope)
            roles = map(PROVIDERS.role_api.get_role, found)
            return [
                {name: role[name] for name in names or role} for role in roles
            ]

        return wrapper

    return decorate


@_MEMOIZE
def with_implied(role_ids: list[str]) -> list[str]:
    """Ids of roles, and of those that they imply."""
    refs = [{'role_id': role_id} for role_id in role_ids]
    expanded = PROVIDERS.assignment_api.add_implied_roles(refs)
    return sorted({ref['role_id'] for ref in expanded})
