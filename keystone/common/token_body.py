# SPDX-License-Identifier: Apache-2.0

"""A rendered token whose catalog is built when it is accessed.

The token of a request's caller is rendered for the middleware and for policy
rules, which use its user, scope and roles. Its catalog, the largest part by
far, is hardly ever used.
"""

import functools

from keystone.common import render_token

_CATALOG = 'catalog'


def render(token):
    """Render a token without its catalog.

    :param token: a :class:`~keystone.models.token_model.TokenModel`
    :returns: dictionary with ``token``, a :class:`TokenBody`
    """
    return {'token': TokenBody(token)}


def reuse(rendered, token):
    """Return a rendered token, rendering it only if necessary.

    :param rendered: a :class:`~keystone.common.rendered_token.RenderedToken`,
        possibly of another token, or any other object
    :param token: a :class:`~keystone.models.token_model.TokenModel`
    """
    if getattr(rendered, 'model', None) is token:
        return rendered
    return render(token)


class TokenBody(dict):
    """The body of a rendered token; the catalog is added on first access.

    Access to other keys, by ``[]``, ``get`` or ``in``, does not add it. All
    other operations do, so that this always equals the complete token, with
    the catalog as its last key. A copy is a plain dictionary.

    :param token: a :class:`~keystone.models.token_model.TokenModel`
    :param values: the body without a catalog; rendered by default
    """

    # The token to build the catalog from; None if there is nothing to build.
    _token = None

    def __init__(self, token, values=None):
        if values is None:
            values = render_token.render_token_response_from_model(
                token, include_catalog=False
            )['token']
        super().__init__(values)
        if not token.unscoped:
            self._token = token

    @property
    def has_catalog(self):
        """Whether the catalog was added."""
        return super().__contains__(_CATALOG)

    def __missing__(self, key):
        if key in self:  # completed now, here or by another thread
            return self[key]
        raise KeyError(key)

    def __contains__(self, key):
        if key == _CATALOG:
            self._complete()
        return super().__contains__(key)

    def get(self, key, default=None):
        """The value of a key, or the default."""
        return self[key] if key in self else default

    def __reduce_ex__(self, protocol):
        return dict, (dict(self),)

    def _complete(self):
        token = self._token
        if token is None:
            return
        whole = render_token.render_token_response_from_model(token)
        # Other threads may read the other keys meanwhile.
        super().__setitem__(_CATALOG, whole['token'][_CATALOG])
        self._token = None


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
