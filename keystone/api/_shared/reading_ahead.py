# SPDX-License-Identifier: Apache-2.0

"""Requests that read the cached values that they need in one round trip.

Requests for the same access key read the same cached values, and so do logins
of the same user with the same scope. When one starts, the values that the last
one read are fetched together, and used as if each had been read on demand.
Other values are read normally, and unused ones are discarded. No value is
older than the request.
"""

from collections.abc import Callable
from collections.abc import Iterator
import contextlib
import functools
import hashlib
import json
import secrets
from typing import Any

import flask

from keystone.common import cache
from keystone.common.cache import counters
from keystone.common.cache import regions
from keystone.common.cache import request_values
from keystone.common.cache import shared
from keystone.common.cache import stores
from keystone.common import local_store

#: The name of its round trips in the counters.
CACHE = 'read ahead'

# Maximum number of kinds of requests, about 2 kB each, and of keys per kind.
_MOST = 1000
_MOST_KEYS = 100


class ReadAhead:
    """The keys read by the last request of each kind.

    Thread-safe. Kinds are identified by a keyed digest, so that the data of
    requests is not kept.

    :param most: maximum number of kinds
    """

    def __init__(self, most: int = _MOST) -> None:
        self._secret = secrets.token_bytes(32)
        self._keys = local_store.LocalStore(most)

    @contextlib.contextmanager
    def reading(self, name: str) -> Iterator[None]:
        """Read ahead for a block of code.

        Nothing is recorded if the block fails, or without a shared cache.

        :param name: identifies similar requests
        """
        if not shared.is_shared():
            yield
            return
        digest = hashlib.blake2b(
            name.encode(), key=self._secret, digest_size=20
        ).digest()
        keys = self._keys.get(digest, ())
        with request_values.reading_ahead(), request_values.noting() as asked:
            if keys:
                self._read(keys)
            yield
        # Not the keys that another component reads together.
        keys = tuple(
            str(key)
            for key, was_at_hand in asked.items()
            if key in keys or not was_at_hand
        )
        self._keys.put(digest, keys[:_MOST_KEYS])

    def __len__(self) -> int:
        return len(self._keys)

    def _read(self, keys: tuple[str, ...]) -> None:
        # All regions use the same servers.
        store = regions.ids_of(cache.CACHE_INVALIDATION_REGION).store
        counters.count(CACHE, counters.ROUND_TRIPS)
        with contextlib.suppress(stores.Unavailable):
            request_values.offer(dict(zip(keys, store.get_many(keys))))


#: The keys recorded by this process.
READ_AHEAD = ReadAhead()


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


def of_login(
    auth: dict[str, Any] | None,
) -> contextlib.AbstractContextManager[None]:
    """Read ahead while a token is issued.

    :param auth: the validated ``auth`` object of the request; None if missing
    """
    if auth is None:
        # Normal processing rejects it.
        return contextlib.nullcontext()
    identity = auth['identity']
    user = identity.get('password', {}).get('user')
    credential = identity.get('application_credential')
    # It was not validated, and may be of any type if it is not used.
    if not isinstance(credential, dict):
        credential = {}
    # The user of a token is not known yet; its record is read anyway.
    who = [
        {name: one[name] for name in ('id', 'name', 'domain') if name in one}
        for one in (user, credential, credential.get('user'))
        if one and isinstance(one, dict)
    ]
    about = identity['methods'], auth.get('scope'), who
    return _reading(json.dumps(about, sort_keys=True))


def _reading(about: str) -> contextlib.AbstractContextManager[None]:
    request = flask.request
    name = json.dumps([request.method, request.endpoint, about])
    return READ_AHEAD.reading(name)


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
