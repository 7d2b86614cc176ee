# SPDX-License-Identifier: Apache-2.0

"""Token responses with the catalog as prepared text.

The catalog of a response is only built to be encoded as JSON. If its text is
available, it is not built at all.
"""

import contextvars

from oslo_serialization import jsonutils

from keystone.catalog import content
from keystone.common import render_token

_is_wanted = contextvars.ContextVar('catalog as text', default=False)


class Text:
    """A catalog as JSON, where a list is expected.

    :ivar json: str
    """

    __slots__ = ('json',)

    def __init__(self, json):
        self.json = json


def is_wanted():
    """Whether a :class:`Text` may be returned as the catalog."""
    return _is_wanted.get()


def render_response(token, include_catalog=True):
    """Render a token for :func:`dumps` only; its catalog is not readable.

    Arguments, result and errors are those of
    :func:`keystone.common.render_token.render_token_response_from_model`.
    """
    reset = _is_wanted.set(True)
    try:
        return render_token.render_token_response_from_model(
            token, include_catalog=include_catalog
        )
    finally:
        _is_wanted.reset(reset)


def parts(rendered):
    """Encode the result of :func:`render_response` as JSON, in parts.

    :returns: three strings: the text before the catalog, the catalog, and the
        text after it. The last two are empty without a catalog
    """
    body = rendered['token']
    if 'catalog' not in body:
        return jsonutils.dumps(rendered), '', ''
    catalog = body['catalog']
    if isinstance(catalog, Text):
        text = catalog.json
    else:
        text = jsonutils.dumps(catalog)
    body = {**body, 'catalog': content.MARK}
    before, after = content.parts({**rendered, 'token': body})
    return before, text, after


def dumps(rendered):
    """Encode the result of :func:`render_response` as JSON.

    :returns: str, the same as if the catalog were a list
    """
    return ''.join(parts(rendered))
