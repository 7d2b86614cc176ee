# SPDX-License-Identifier: Apache-2.0

"""Requests that read the cached values that they need in one round trip.

Requests for the same access key read the same cached values, and so do logins
of the same user with the same scope. When one starts, the values that the last
one read are fetched together, and used as if each had been read on demand.
Other values are read normally, and unused ones are discarded. No value is
older than the request, nor than a second.
"""

from collections.abc import Callable
from collections.abc import Iterator
import contextlib
import functools
import json
from typing import Any

import flask

from keystone.common import cache
from keystone.common.cache import facts
from keystone.common.cache import regions
from keystone.common.cache import shared
from keystone.common.cache import stores
from keystone.common import counters
from keystone.common import local_store

#: The name of its round trips in the counters.
CACHE = 'read ahead'

# Maximum number of kinds of requests, about 2 kB each, and of keys per kind.
_MOST = 1000
_MOST_KEYS = 100
# What evaluating a request that has not been validated may raise.
_MALFORMED = (AttributeError, LookupError, RecursionError, TypeError)


class ReadAhead:
    """The keys read by the last request of each kind.

    Thread-safe. Kinds are identified by a hash, so that the data of requests
    is not kept. Those with the same hash only read some keys in vain.

    :param most: maximum number of kinds
    """

    def __init__(self, most: int = _MOST) -> None:
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
        kind = hash(name)
        keys = self._keys.get(kind, ())
        with facts.reading_ahead(), facts.recording_keys() as asked:
            if keys:
                self._read(keys)
            yield
        # Not the keys that another component reads together.
        keys = tuple(
            str(key)
            for key, was_at_hand in asked.items()
            if key in keys or not was_at_hand
        )
        self._keys.put(kind, keys[:_MOST_KEYS])

    def _read(self, keys: tuple[str, ...]) -> None:
        # All regions use the same servers.
        store = regions.ids_of(cache.CACHE_INVALIDATION_REGION).store
        counters.count(CACHE, counters.ROUND_TRIPS)
        with contextlib.suppress(stores.Unavailable):
            facts.offer(dict(zip(keys, store.get_many(keys))))


#: The keys recorded by this process.
READ_AHEAD = ReadAhead()


def _reading_ahead_by(about: Callable[[dict[str, Any]], Any]) -> Callable:
    """A decorator for a method of a resource.

    :param about: function from the body of a request, which is not validated,
        to text that is the same for similar requests; anything else, or an
        error, if normal processing rejects the request
    """

    def decorate(method: Callable) -> Callable:
        @functools.wraps(method)
        def wrapper(*args: Any, **kwargs: Any) -> Any:
            request, text = flask.request, None
            body = request.get_json(silent=True, force=True)
            with contextlib.suppress(*_MALFORMED):
                text = about(body)
            if not isinstance(text, str):
                return method(*args, **kwargs)
            name = json.dumps([request.method, request.endpoint, text])
            with READ_AHEAD.reading(name):
                return method(*args, **kwargs)

        return wrapper

    return decorate


def _access(body: dict[str, Any]) -> Any:
    # The names that upstream accepts, in this order.
    for part in ('credentials', 'credential', 'ec2Credentials'):
        if body.get(part):
            return body[part].get('access')
    return None


def _login(body: dict[str, Any]) -> str:
    auth = body['auth']
    identity = auth['identity']
    user = identity.get('password', {}).get('user')
    credential = identity.get('application_credential')
    # It may be of any type if it is not used.
    if not isinstance(credential, dict):
        credential = {}
    # The user of a token is not known yet; its record is read anyway.
    who = [
        {name: one[name] for name in ('id', 'name', 'domain') if name in one}
        for one in (user, credential, credential.get('user'))
        if one and isinstance(one, dict)
    ]
    about = identity['methods'], auth.get('scope'), who
    return json.dumps(about, sort_keys=True)


#: Decorates a method of a resource that verifies a signature.
of_access_key = _reading_ahead_by(_access)

#: Decorates a method of a resource that issues a token.
of_login = _reading_ahead_by(_login)
