# SPDX-License-Identifier: Apache-2.0

"""Tokens validated by the current request."""

import flask
from oslo_utils import timeutils

from keystone.common import provider_api

PROVIDERS = provider_api.ProviderAPIs

_TOKENS = 'keystone.validated_tokens'


def remember(environ, token):
    """Record a token that this request has just validated.

    :param environ: WSGI environment of the request
    :param token: a :class:`~keystone.models.token_model.TokenModel`
    """
    environ.setdefault(_TOKENS, {})[token.id] = token


def validate(token_id, window_seconds=0, access_rules_support=None):
    """Validate a token, unless the current request has already done so.

    Conditions that depend on the arguments are checked each time: expiry and
    access rules. Without a request this is equivalent to
    ``token_provider_api.validate_token``, which has the same arguments, result
    and errors.
    """
    provider = PROVIDERS.token_provider_api
    validated = {}
    if flask.has_request_context():
        validated = flask.request.environ.setdefault(_TOKENS, validated)
    token = validated.get(token_id)
    if token is not None:
        expiry = timeutils.parse_isotime(token.expires_at)
        # It is accepted for this window after its expiry.
        if not timeutils.is_soon(expiry, -window_seconds):
            provider._validate_token_access_rules(token, access_rules_support)
            return token
    token = provider.validate_token(
        token_id,
        window_seconds=window_seconds,
        access_rules_support=access_rules_support,
    )
    validated[token_id] = token
    return token


def validate_last(token_id, window_seconds=0, access_rules_support=None):
    """Validate a token that is about to be revoked.

    The request does not keep it. Arguments, result and errors are those of
    :func:`validate`.
    """
    token = validate(token_id, window_seconds, access_rules_support)
    if flask.has_request_context():
        flask.request.environ.get(_TOKENS, {}).pop(token_id, None)
    return token
