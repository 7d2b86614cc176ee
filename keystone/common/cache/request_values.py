# SPDX-License-Identifier: Apache-2.0

"""What the request under way has read of the cache, by its key there.

What was read together, before it was asked for, is at hand only within a
block that follows at once: it would be too old in a long request.
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


def get(key: str) -> Any:
    """What was read; None if it was not, or if there is no request."""
    context = request_local.current()
    return None if context is None else _values(context).get(key)


def put(key: str, value: Any) -> None:
    """Remember what was read, until the request ends."""
    context = request_local.current()
    if context is not None:
        _values(context)[key] = value


@contextlib.contextmanager
def reading_ahead() -> Iterator[None]:
    """Have what is offered in the block at hand until its end."""
    reset = _ahead.set({})
    try:
        yield
    finally:
        _ahead.reset(reset)


def offer(found: dict[str, bytes | None]) -> None:
    """Have values at hand that were just read, if they are wanted.

    :param found: what is stored, by key
    """
    ahead = _ahead.get()
    if ahead is not None:
        ahead.update(found)


def take(key: str) -> bytes | None:
    """What was read ahead, once; None if it has to be read."""
    ahead = _ahead.get()
    return None if ahead is None else ahead.pop(key, None)


def drop(key: str) -> None:
    """Have the request read it again."""
    take(key)
    context = request_local.current()
    if context is not None:
        _values(context).pop(key, None)


def _values(context: Any) -> dict[str, Any]:
    return vars(context).setdefault(_VALUES, {})
