# SPDX-License-Identifier: Apache-2.0

"""Roles of a token, resolved once per request.

They are kept in the environment of the request, and not in the token model,
which may be cached.
"""

import contextlib
import contextvars
import functools

import flask

_ROLES = 'keystone.roles_of_tokens'

# {id of the model: (model, its roles)} of the current request.
_held = contextvars.ContextVar('roles held in a request', default=None)


@contextlib.contextmanager
def _holding(environ):
    reset = _held.set(environ.setdefault(_ROLES, {}))
    try:
        yield
    finally:
        _held.reset(reset)


def in_middleware(process):
    """Decorate a middleware method that takes the request."""

    @functools.wraps(process)
    def wrapper(self, request):
        with _holding(request.environ):
            return process(self, request)

    return wrapper


def in_resource(method):
    """Decorate a method of an API resource."""

    @functools.wraps(method)
    def wrapper(*args, **kwargs):
        with _holding(flask.request.environ):
            return method(*args, **kwargs)

    return wrapper


def once(resolve):
    """Decorate the method of a token model that resolves its roles.

    Within functions decorated as above, the roles of a model are resolved once
    per request; elsewhere, each time.
    """

    @functools.wraps(resolve)
    def wrapper(token):
        held = _held.get()
        if held is None:
            return resolve(token)
        if id(token) not in held:
            # Keep the model alive, so that its id is not reused.
            held[id(token)] = (token, resolve(token))
        _token, roles = held[id(token)]
        return [dict(role) for role in roles]

    return wrapper
