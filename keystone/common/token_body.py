# SPDX-License-Identifier: Apache-2.0

"""A token as the API shows it, with a catalog that is made when it is read.

The token of a request's caller is rendered for the middleware and for the
policy rules, which read its user, its scope and its roles. Hardly anything
ever reads its catalog, the largest part by far.
"""

import functools

from keystone.common import render_token

_CATALOG = 'catalog'


def render(token):
    """Render a token, all but the catalog.

    :param token: a :class:`~keystone.models.token_model.TokenModel`
    :returns: dictionary with ``token``, a :class:`TokenBody`
    """
    return {'token': TokenBody(token)}


def reuse(rendered, token):
    """A token as it was rendered already, or else rendered now.

    :param rendered: a :class:`~keystone.common.rendered_token.RenderedToken`,
        of whatever token, or anything else
    :param token: a :class:`~keystone.models.token_model.TokenModel`
    """
    if getattr(rendered, 'model', None) is token:
        return rendered
    return render(token)


class TokenBody(dict):
    """What a rendered token holds; the catalog comes with the first look.

    Asking for another key, by ``[]``, ``get`` or ``in``, is no such look.
    Everything else is, so that this equals the whole token however it is
    used. A copy is a plain dictionary.

    :param token: a :class:`~keystone.models.token_model.TokenModel`
    :param values: what :meth:`without_catalog` gave for the same token;
        rendered if left out
    """

    # What to make the catalog from; None when there is none to make.
    _token = None

    def __init__(self, token, values=None):
        if values is None:
            values = render_token.render_token_response_from_model(
                token, include_catalog=False
            )['token']
        super().__init__(values)
        if not token.unscoped:
            self._token = token

    def __missing__(self, key):
        if key != _CATALOG or self._token is None:
            raise KeyError(key)
        self._complete()
        return self[key]

    def __contains__(self, key):
        if key == _CATALOG:
            self._complete()
        return super().__contains__(key)

    def get(self, key, default=None):
        """The value of a key, or else the default."""
        return self[key] if key in self else default

    def without_catalog(self):
        """What is rendered so far: all but the catalog, unless it was read.

        :returns: a plain dictionary
        """
        # To copy it as a whole would be a look at all of it.
        return dict(dict.items(self))

    def __reduce_ex__(self, protocol):
        return dict, (dict(self),)

    def _complete(self):
        if self._token is None:
            return
        whole = render_token.render_token_response_from_model(self._token)
        self._token = None
        # It has a place of its own among the keys.
        values = {**whole['token'], **self}
        self.clear()
        self.update(values)


def _completing(method):
    @functools.wraps(method)
    def wrapper(self, *args, **kwargs):
        self._complete()
        return method(self, *args, **kwargs)

    return wrapper


for _name in (
    '__delitem__', '__eq__', '__ior__', '__iter__', '__len__', '__ne__',
    '__or__', '__repr__', '__reversed__', '__ror__', '__setitem__', 'clear',
    'copy', 'items', 'keys', 'pop', 'popitem', 'setdefault', 'update',
    'values',
):  # fmt: skip
    setattr(TokenBody, _name, _completing(getattr(dict, _name)))
