# SPDX-License-Identifier: Apache-2.0

"""Whether the identity provider that has vouched for a user is enabled."""

import functools

from keystone.common import cache
from keystone.common import provider_api
from keystone import exception
from keystone.i18n import _

PROVIDERS = provider_api.ProviderAPIs

#: Whether an identity provider is enabled. It is dropped as a whole: whoever
#: has asked before a change, and caches the answer afterwards, stores it where
#: nobody looks.
REGION = cache.create_region(name='identity providers')

_MEMOIZE = cache.get_memoization_decorator(group='federation', region=REGION)


class IdentityProviderDisabled(exception.TokenNotFound):
    """The token is refused as one that was revoked is."""


def assert_enabled(token):
    """Refuse a token whose identity provider is not trusted any more.

    Tokens of other users cost nothing.

    :param token: a :class:`keystone.models.token_model.TokenModel`
    :raises IdentityProviderDisabled: the identity provider is disabled
    :raises keystone.exception.IdentityProviderNotFound: it was deleted
    """
    if not token.is_federated:
        return
    if not _is_enabled(token.identity_provider_id):
        raise IdentityProviderDisabled(_('Failed to validate token'))


@_MEMOIZE
def _is_enabled(idp_id):
    return PROVIDERS.federation_api.get_idp(idp_id).get('enabled') is True


def forbidden_if_disabled(get_token):
    """Decorate what takes a token for another one.

    Signing in answers 403 if the identity provider is disabled, whether with
    its word or with a token.
    """

    @functools.wraps(get_token)
    def wrapper(*args, **kwargs):
        try:
            return get_token(*args, **kwargs)
        except IdentityProviderDisabled as error:
            raise exception.Forbidden(
                _('The identity provider of the token is disabled.')
            ) from error

    return wrapper
