# SPDX-License-Identifier: Apache-2.0

"""Trusts of existing tokens, cached as long as stock caches the tokens.

A trust does not change until it is deleted, apart from its number of uses.
Authentication with a trust still reads it from the database.
"""

from typing import Any

from oslo_utils import timeutils

from keystone.common import cache
from keystone.common.cache import after_write
from keystone.common.cache import facts
from keystone.common import provider_api
from keystone import exception

PROVIDERS = provider_api.ProviderAPIs

_MEMOIZE = cache.get_memoization_decorator(group='token')


def get(trust_id: str) -> dict[str, Any]:
    """The trust of a token, from the cache if possible.

    Redelegated trusts, which depend on others, and trusts with limited uses
    are read from the database each time.

    :raises keystone.exception.TrustNotFound: it expired or was deleted
    :raises keystone.exception.Forbidden: a trust that it is derived from does
        not permit it any more
    """
    trust = _read(trust_id)
    is_limited = trust.get('remaining_uses') is not None
    if is_limited or trust.get('redelegated_trust_id'):
        return PROVIDERS.trust_api.get_trust(trust_id)
    if trust['expires_at'] is not None:
        left = (trust['expires_at'] - timeutils.utcnow()).total_seconds()
        if left < 0:
            raise exception.TrustNotFound(trust_id=trust_id)
        facts.end_in(left)
    return trust


@_MEMOIZE
def _read(trust_id: str) -> dict[str, Any]:
    return PROVIDERS.trust_api.driver.get_trust(trust_id)


@after_write.invalidate_again
def delete(trust_id: str) -> None:
    """Delete a trust, and the cached one.

    :param trust_id: as it is stored: a database may find a trust by its id in
        another case
    :raises keystone.exception.TrustNotFound: if the trust does not exist
    """
    _read.invalidate(trust_id)
    PROVIDERS.trust_api.driver.delete_trust(trust_id)
