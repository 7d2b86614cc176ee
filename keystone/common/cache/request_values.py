# SPDX-License-Identifier: Apache-2.0

"""Values that the current request has read from the cache, by key.

Values read ahead, in one round trip, are only available within a block that
follows immediately, since they would be stale later in a long request.
"""

from collections.abc import Iterator
import contextlib
import contextvars
from typing import Any

from keystone.common.cache import request_local

_VALUES = request_local.PREFIX + 'values'

_ahead: contextvars.ContextVar[Any] = contextvars.ContextVar(
    'read ahead', default=None
)
_asked: contextvars.ContextVar[Any] = contextvars.ContextVar(
    'asked for', default=None
)


def get(key: str) -> Any:
    """A value that was read; None otherwise, or without a request."""
    context = request_local.current()
    return None if context is None else _values(context).get(key)


def put(key: str, value: Any) -> None:
    """Keep a value until the request ends."""
    context = request_local.current()
    if context is not None:
        _values(context)[key] = value


@contextlib.contextmanager
def noting() -> Iterator[dict[str, bool]]:
    """Record the keys read in the block.

    :returns: context manager of a dict that is filled meanwhile: for each
        key, whether its value had been read ahead
    """
    asked: dict[str, bool] = {}
    reset = _asked.set(asked)
    try:
        yield asked
    finally:
        _asked.reset(reset)


@contextlib.contextmanager
def reading_ahead() -> Iterator[None]:
    """Make the values offered in the block available until its end."""
    reset = _ahead.set({})
    try:
        yield
    finally:
        _ahead.reset(reset)


def offer(found: dict[str, bytes | None]) -> None:
    """Make values that were just read available, within such a block.

    :param found: stored values by key
    """
    ahead = _ahead.get()
    if ahead is not None:
        ahead.update(found)


def take(key: str) -> bytes | None:
    """A value read ahead, once; None if it must be read."""
    found = _pop(key)
    asked = _asked.get()
    if asked is not None:
        asked.setdefault(key, found is not None)
    return found


def _pop(key: str) -> bytes | None:
    ahead = _ahead.get()
    return None if ahead is None else ahead.pop(key, None)


def drop(key: str) -> None:
    """Have the request read it again."""
    _pop(key)
    context = request_local.current()
    if context is not None:
        _values(context).pop(key, None)


def _values(context: Any) -> dict[str, Any]:
    return vars(context).setdefault(_VALUES, {})
