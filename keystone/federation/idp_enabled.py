# SPDX-License-Identifier: Apache-2.0

"""Check that the identity provider of a federated user is enabled."""

import functools

from keystone.common import cache
from keystone.common import provider_api
from keystone import exception
from keystone.i18n import _

PROVIDERS = provider_api.ProviderAPIs

#: Whether an identity provider is enabled. The whole region is invalidated, so
#: that a value read before a change and stored after it is never used.
REGION = cache.create_region(name='identity providers')

_MEMOIZE = cache.get_memoization_decorator(group='federation', region=REGION)


class IdentityProviderDisabled(exception.TokenNotFound):
    """The token is rejected like a revoked one."""


def assert_enabled(token):
    """Reject a federated token whose identity provider is no longer trusted.

    This precedes the check of revocation events, so that the response is as
    before this check if the identity provider was deleted, and its users
    revoked.

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
    """Decorate the authentication with a token.

    Authentication returns 403 if the identity provider is disabled, with a
    token as well as with an assertion.
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
