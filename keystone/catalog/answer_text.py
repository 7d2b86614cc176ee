# SPDX-License-Identifier: Apache-2.0

"""Answers that show a token, with the catalog written straight as text.

An answer's catalog is made only to be written as JSON. Where its text can be
had without it, no part of it is made.
"""

import contextvars
import secrets

from oslo_serialization import jsonutils

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
    """Whether a :class:`Text` may take the place of the catalog."""
    return _is_wanted.get()


def render(token, include_catalog=True):
    """Render a token for :func:`dumps`, and for nobody who reads its catalog.

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
    """Write as JSON what :func:`render` gave, in parts.

    :returns: three strings: what stands before the catalog, the catalog, and
        what follows. The last two are empty if there is none
    """
    body = rendered['token']
    if 'catalog' not in body:
        return jsonutils.dumps(rendered), '', ''
    catalog = body['catalog']
    if isinstance(catalog, Text):
        text = catalog.json
    else:
        text = jsonutils.dumps(catalog)
    # Nobody can have guessed it: it stands nowhere else in the answer.
    mark = secrets.token_hex(16)
    marked = {**rendered, 'token': {**body, 'catalog': mark}}
    before, _mark, after = jsonutils.dumps(marked).partition(f'"{mark}"')
    return before, text, after


def dumps(rendered):
    """Write as JSON what :func:`render` gave.

    :returns: str, the same as if the catalog were a list
    """
    return ''.join(parts(rendered))
