# SPDX-License-Identifier: Apache-2.0

"""Invalidation of tokens when an identity provider or protocol is deleted."""

from collections.abc import Callable
import functools
from typing import Any

from oslo_db import api as oslo_db_api
from oslo_utils import importutils
import sqlalchemy

from keystone import assignment
from keystone.common.cache import after_write
from keystone.common import provider_api
from keystone.common import sql
from keystone.federation import idp_enabled
from keystone.identity.backends import sql_model
from keystone import notifications

PROVIDERS = provider_api.ProviderAPIs

# None if the assignments of single users cannot be invalidated.
_affected = importutils.try_import('keystone.assignment.affected')

_PROVIDER = sqlalchemy.table('identity_provider', sqlalchemy.column('id'))


def end_after_delete(delete: Callable) -> Callable:
    """Decorate a function that deletes an identity provider or a protocol.

    Users without another source may be deleted with it, and memberships of
    groups. All users of the provider have their tokens revoked, since some
    remain, and others get the same id when they authenticate again.

    :param delete: takes the manager, the id of the identity provider, and that
        of the protocol if only this is deleted
    """

    @oslo_db_api.wrap_db_retry(retry_on_deadlock=True)
    def lock_and_delete(
        users: set[str], members: set[str], manager: Any, *source: str
    ) -> None:
        # Until it is deleted, nobody can authenticate for the first time.
        row = sqlalchemy.select(_PROVIDER).where(_PROVIDER.c.id == source[0])
        user = sqlalchemy.select(sql_model.FederatedUser.user_id)
        member = sqlalchemy.select(
            sql_model.ExpiringUserGroupMembership.user_id
        )
        names = dict(zip(('idp_id', 'protocol_id'), source))
        with sql.session_for_write() as session:
            session.execute(row.with_for_update())
            users |= set(session.scalars(user.filter_by(**names)))
            members |= set(session.scalars(member.filter_by(idp_id=source[0])))
            delete(manager, *source)

    @after_write.invalidate_again
    @functools.wraps(delete)
    def write(manager: Any, *source: str) -> None:
        users: set[str] = set()
        members: set[str] = set()
        try:
            lock_and_delete(users, members, manager, *source)
            for user_id in sorted(users):
                PROVIDERS.revoke_api.revoke_by_user(user_id)
        finally:
            _invalidate(users | members)
            idp_enabled.REGION.invalidate()
            # Last: the check of revocation events is cached with the tokens.
            name = ', protocol '.join(source)
            notifications.invalidate_token_cache_notification(
                f'Identity provider {name} was deleted.'
            )

    return write


def _invalidate(user_ids: set[str]) -> None:
    """Invalidate users, and the roles computed for them."""
    identity_api = PROVIDERS.identity_api
    for user_id in user_ids:
        identity_api.get_user.invalidate(identity_api, user_id)
    region = assignment.COMPUTED_ASSIGNMENTS_REGION
    if _affected is None:
        region.invalidate()
    elif user_ids:
        _affected.drop_users(region, user_ids)
