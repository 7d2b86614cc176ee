# SPDX-License-Identifier: Apache-2.0

"""Token responses with the catalog as prepared text.

The catalog of a response is only built to be encoded as JSON. If its text is
available, it is not built at all.
"""

import contextvars
import secrets

from oslo_serialization import jsonutils

from keystone.common import provider_api
from keystone.common import render_token

PROVIDERS = provider_api.ProviderAPIs

# Unpredictable, so that it occurs nowhere else.
_MARK = secrets.token_hex(16)
_is_wanted = contextvars.ContextVar('catalog as text', default=False)


class Text:
    """A catalog as JSON, where a list is expected.

    :ivar json: str
    :ivar user_id: the user that it was built for
    :ivar project_id: the project that it was built for, or None
    """

    __slots__ = ('json', 'project_id', 'user_id')

    def __init__(self, json, user_id, project_id):
        self.json = json
        self.user_id = user_id
        self.project_id = project_id


def is_wanted():
    """Whether a :class:`Text` is to be returned as the catalog."""
    return _is_wanted.get()


def render_response(token, include_catalog=True):
    """Render a token for :func:`dumps` only; its catalog is not readable.

    Arguments, result and errors are those of
    :func:`keystone.common.render_token.render_token_response_from_model`.
    """
    render = render_token.render_token_response_from_model
    return _with_text(render, token, include_catalog=include_catalog)


def catalog(user_id, project_id):
    """The catalog of a user in a scope, as JSON."""
    read = PROVIDERS.catalog_api.get_v3_catalog
    return _with_text(read, user_id, project_id).json


def _with_text(function, *args, **kwargs):
    """Call a function that returns a catalog as a :class:`Text`."""
    reset = _is_wanted.set(True)
    try:
        return function(*args, **kwargs)
    finally:
        _is_wanted.reset(reset)


def parts(rendered):
    """Encode the result of :func:`render_response` as JSON, in parts.

    :returns: the text before the catalog, the catalog as a :class:`Text` or
        None, and the text after it
    """
    body = rendered['token']
    if 'catalog' not in body:
        return jsonutils.dumps(rendered), None, ''
    marked = {**rendered, 'token': {**body, 'catalog': _MARK}}
    before, after = jsonutils.dumps(marked).split(f'"{_MARK}"')
    return before, body['catalog'], after


def dumps(rendered):
    """Encode the result of :func:`render_response` as JSON.

    :returns: str, the same as if the catalog were a list
    """
    before, catalog, after = parts(rendered)
    return ''.join((before, catalog.json if catalog else '', after))
