# SPDX-License-Identifier: Apache-2.0

"""Invalidation of tokens when an identity provider or protocol is deleted."""

import functools

from keystone import assignment
from keystone.common import cache
from keystone.common.cache import after_write
from keystone.common import provider_api
from keystone.common import sql
from keystone.federation import idp_enabled
from keystone.identity.backends import sql_model
from keystone import notifications

PROVIDERS = provider_api.ProviderAPIs


def drop_after(write):
    """Decorate a function that creates or updates an identity provider.

    :param write: takes the manager, the id, and a dict of attributes
    """

    @functools.wraps(write)
    def wrapper(manager, idp_id, idp):
        try:
            return write(manager, idp_id, idp)
        finally:
            idp_enabled.REGION.invalidate()
            if idp.get('enabled') is False:
                _drop_tokens(idp_id)

    return wrapper


def end_after_delete(delete):
    """Decorate a function that deletes an identity provider or a protocol.

    Users without another source are deleted with it, and their cached entries
    are invalidated here. All users of the provider have their tokens revoked,
    since some remain, and others get the same id when they authenticate again.

    :param delete: takes the manager, the id of the identity provider, and that
        of the protocol if only this is deleted
    """

    @after_write.invalidate_again
    def write(manager, *source):
        try:
            return delete(manager, *source)
        finally:
            cache.CACHE_REGION.invalidate()
            # Memberships of groups from the provider are deleted as well.
            assignment.COMPUTED_ASSIGNMENTS_REGION.invalidate()
            idp_enabled.REGION.invalidate()
            _drop_tokens(*source)

    @functools.wraps(delete)
    def wrapper(manager, idp_id, *protocol_id):
        users = _users(idp_id, *protocol_id)
        answer = write(manager, idp_id, *protocol_id)
        for user_id in users:
            PROVIDERS.revoke_api.revoke_by_user(user_id)
        return answer

    return wrapper


def _drop_tokens(*source):
    name = ', protocol '.join(source)
    notifications.invalidate_token_cache_notification(
        f'Identity provider {name} was disabled or deleted.'
    )


def _users(idp_id, protocol_id=None):
    """Ids of the users from an identity provider or protocol."""
    user = sql_model.FederatedUser
    with sql.session_for_read() as session:
        query = session.query(user.user_id).filter(user.idp_id == idp_id)
        if protocol_id is not None:
            query = query.filter(user.protocol_id == protocol_id)
        return sorted({row[0] for row in query})
