# SPDX-License-Identifier: Apache-2.0

"""Requests that read the cache ahead.

Requests for the same access key read the same cached values, and so do logins
of the same user with the same scope.
"""

from collections.abc import Callable
import contextlib
import functools
import json
from typing import Any

import flask

from keystone.common.cache import read_ahead


def of_access_key(method: Callable) -> Callable:
    """Decorate a method of a resource that verifies a signature."""

    @functools.wraps(method)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        access = _access()
        if not isinstance(access, str):
            return method(*args, **kwargs)
        with _reading(access):
            return method(*args, **kwargs)

    return wrapper


def of_login(auth: dict[str, Any]) -> contextlib.AbstractContextManager[None]:
    """Read ahead while a token is issued.

    :param auth: the validated ``auth`` object of the request
    """
    identity = auth['identity']
    user = identity.get('password', {}).get('user')
    credential = identity.get('application_credential')
    # The user of a token is not known yet; its record is read anyway.
    who = [
        {name: one[name] for name in ('id', 'name', 'domain') if name in one}
        for one in (user, credential, (credential or {}).get('user'))
        if one
    ]
    about = identity['methods'], auth.get('scope'), who
    return _reading(json.dumps(about, sort_keys=True))


def _reading(about: str) -> contextlib.AbstractContextManager[None]:
    request = flask.request
    name = json.dumps([request.method, request.endpoint, about])
    return read_ahead.READ_AHEAD.reading(name)


def _access() -> Any:
    body = flask.request.get_json(silent=True, force=True)
    if not isinstance(body, dict):
        return None
    # The names that upstream accepts, in this order.
    for part in ('credentials', 'credential', 'ec2Credentials'):
        if body.get(part):
            found = body[part]
            return found.get('access') if isinstance(found, dict) else None
    return None
