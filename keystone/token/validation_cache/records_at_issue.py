# SPDX-License-Identifier: Apache-2.0

"""Records of tokens that are created when the tokens are issued.

Keystone itself uses them as well for the tokens that it validates.
"""

from collections.abc import Callable
import contextlib
import contextvars
import functools
from typing import Any

from keystone.catalog import answer_text
from keystone.common.cache import facts
import keystone.conf
from keystone.token.validation_cache import cache
from keystone.token.validation_cache import lookup

CONF = keystone.conf.CONF

_keep: contextvars.ContextVar[Callable] = contextvars.ContextVar(
    'keeps the record of the token that is being issued'
)


def recorded(method: Callable) -> Callable:
    """Decorate a method of a resource that issues a token.

    It is traced, to create the record of the token. ``[token] cache_on_issue``
    controls this.

    :param method: calls :func:`render` with the token
    """

    @functools.wraps(method)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        with cache.RECORDS.recording(
            lambda token: lookup.Wanted(token.id),
            cache.record_of,
            is_wanted=CONF.token.cache_on_issue,
            is_of_issue=True,
        ) as keep:
            reset = _keep.set(keep)
            try:
                return method(*args, **kwargs)
            finally:
                _keep.reset(reset)

    return wrapper


def decoded(provider: Any, token: str) -> Any:
    """Decode a token that was just issued, if its record is wanted.

    :param provider: the manager of tokens
    :returns: a token model; None if no record is wanted, or this node cannot
        verify the token, as while the public key of a JWS is distributed
    """
    if facts.issued():
        with contextlib.suppress(Exception):
            return provider._validate_token(token)
        # Normal processing continues; the model it has is not recorded.
        facts.note_uncached()
    return None


def render(token: Any, include_catalog: bool = True) -> dict[str, Any]:
    """Render a token that is being issued, and keep its record.

    Arguments, result and errors are those of
    :func:`keystone.catalog.answer_text.render_response`.
    """
    rendered = answer_text.render_response(
        token, include_catalog=include_catalog
    )
    if include_catalog:
        _keep.get()(token, rendered)
    return rendered


def validated(provider: Any, token: str, window_seconds: int) -> Any:
    """Validate a token, unless it has a valid record.

    :param provider: the manager of tokens
    :returns: a token model
    """
    model = cache.known(token)
    if model is None:
        model = provider._validate_token(token)
        provider._is_valid_token(model, window_seconds=window_seconds)
    return model
