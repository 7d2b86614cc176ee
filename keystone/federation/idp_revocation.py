# SPDX-License-Identifier: Apache-2.0

"""Invalidation of tokens when an identity provider or protocol is deleted."""

import functools

from keystone import assignment
from keystone.common import cache
from keystone.common.cache import after_write
from keystone.common import driver_hints
from keystone.common import provider_api
from keystone.federation import idp_enabled
from keystone import notifications

PROVIDERS = provider_api.ProviderAPIs


def end_after_delete(delete):
    """Decorate a function that deletes an identity provider or a protocol.

    Users without another source are deleted with it, and their cached entries
    are invalidated here. All users of the provider have their tokens revoked,
    since some remain, and others get the same id when they authenticate again.

    :param delete: takes the manager, the id of the identity provider, and that
        of the protocol if only this is deleted
    """

    @after_write.invalidate_again
    @functools.wraps(delete)
    def write(manager, *source):
        hints = driver_hints.Hints()
        for name, value in zip(('idp_id', 'protocol_id'), source):
            hints.add_filter(name, value)
        users = PROVIDERS.shadow_users_api.list_federated_users_info(hints)
        try:
            delete(manager, *source)
            for user_id in sorted({user['user_id'] for user in users}):
                PROVIDERS.revoke_api.revoke_by_user(user_id)
        finally:
            cache.CACHE_REGION.invalidate()
            # Memberships of groups from the provider are deleted as well.
            assignment.COMPUTED_ASSIGNMENTS_REGION.invalidate()
            idp_enabled.REGION.invalidate()
            # Last: the check of revocation events is cached with the tokens.
            name = ', protocol '.join(source)
            notifications.invalidate_token_cache_notification(
                f'Identity provider {name} was deleted.'
            )

    return write
