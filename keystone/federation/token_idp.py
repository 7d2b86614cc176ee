# SPDX-License-Identifier: Apache-2.0

"""Identity providers of existing tokens, from the cache.

Stock reads the provider from the database each time it renders a token. A
stock node that deletes one only invalidates the region of tokens, so the id of
that region is part of the key. It does so if tokens are cached, so the group
is theirs.
"""

from typing import Any

from keystone.common import cache
from keystone.common.cache import regions
from keystone.common import provider_api

PROVIDERS = provider_api.ProviderAPIs

_MEMOIZE = cache.get_memoization_decorator(group='token')

_TOKENS = 'tokens'
# Here, as it requires that this node caches no tokens: comparisons of facts do
# not notice when a node with this patch set invalidates such a region.
regions.OF_STOCK.add(_TOKENS)


def assert_exists(token: Any) -> None:
    """Reject a federated token whose identity provider was deleted.

    :param token: a :class:`keystone.models.token_model.TokenModel`
    :raises keystone.exception.IdentityProviderNotFound: it was deleted
    """
    _exists(token.identity_provider_id, _tokens_id())


def invalidate(idp_id: str) -> None:
    """Discard the cached state of a provider that is deleted."""
    _exists.invalidate(idp_id, _tokens_id())


@_MEMOIZE
def _exists(idp_id: str, version: str) -> bool:
    PROVIDERS.federation_api.get_idp(idp_id)
    return True


def _tokens_id() -> str:
    ids = regions.ids_of(cache.CACHE_INVALIDATION_REGION)
    return regions.base_of(ids.read(_TOKENS)).hex()
