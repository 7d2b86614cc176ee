# SPDX-License-Identifier: Apache-2.0

"""What a computation, and the current request, has read through the cache.

A *fact* is a value that was read through the cache. During a computation, a
:class:`Trace` records each fact with the fingerprint of its stored bytes.
Invariant: a fact is read before it is used, and compared afterwards; while all
fingerprints are unchanged, the same computation would read the same values.
Values read to compute a fact belong to that fact alone. Changes of data read
past the cache go unnoticed, so a trace with such a read is not reusable.

A request keeps the values that it has read. Values read ahead, in one round
trip, are only available within a block, and for a second: they would be stale
later in a long request, such as after a slow check of a password.
"""

from collections.abc import Iterator
import contextlib
import contextvars
import functools
import hashlib
import math
import time
from typing import Any
from typing import NamedTuple

import sqlalchemy
from sqlalchemy import event

from keystone.common.cache import request_local

_FINGERPRINT = 16  # bytes

#: Fingerprint of a fact that is not stored and cannot be compared.
MISSING = b''

#: Prefix of the key of a fact that is a region id.
ID = '#'

_VALUES = request_local.PREFIX + 'values'

# Seconds for which values read ahead are available, and the key of the end.
_AHEAD = 1
_UNTIL = ''

_trace: contextvars.ContextVar[Any] = contextvars.ContextVar(
    'trace', default=None
)
_ahead: contextvars.ContextVar[Any] = contextvars.ContextVar(
    'read ahead', default=None
)
_asked: contextvars.ContextVar[Any] = contextvars.ContextVar(
    'asked for', default=None
)


class Fact(NamedTuple):
    """A value that was read.

    :ivar fingerprint: bytes that change with the stored value
    :ivar until: expiry in seconds since the epoch
    """

    fingerprint: bytes
    until: float


class Trace:
    """The facts that a computation has read.

    :param is_of_issue: whether the result only depends on what is read after
        a token was issued
    :ivar facts: each :class:`Fact` by its key in the cache
    :ivar flaw: why the trace is not reusable, in one word, or None
    """

    def __init__(self, is_of_issue: bool = False) -> None:
        self._depth = 0
        self.is_of_issue = is_of_issue
        self.restart()

    def restart(self) -> None:
        """Discard all recorded facts."""
        self.facts: dict[str, Fact] = {}
        self._end = math.inf
        self.flaw: str | None = None

    @property
    def until(self) -> float:
        """Earliest expiry of the facts, in seconds since the epoch."""
        ends = (one.until for one in self.facts.values())
        return min(self._end, min(ends, default=0))

    @property
    def fingerprints(self) -> bytes:
        """The fingerprints of the facts, joined in their order."""
        return b''.join([one.fingerprint for one in self.facts.values()])

    @property
    def is_complete(self) -> bool:
        """Whether everything that was read can be compared."""
        return self.flaw is None and all(
            one.fingerprint != MISSING for one in self.facts.values()
        )

    def note(self, key: str, fact: Fact) -> None:
        """Record a fact, unless it was read to compute another one."""
        if self._depth:
            return
        before = self.facts.get(key, fact).fingerprint
        if before not in (MISSING, fact.fingerprint) and self.flaw is None:
            # Parts of the result depend on different versions of the fact.
            self.flaw = 'changed'
        self.facts[key] = fact

    def end_in(self, seconds: float) -> None:
        """Record an expiry, unless it belongs to another fact."""
        if not self._depth:
            self._end = min(self._end, time.time() + seconds)


@contextlib.contextmanager
def tracing(is_of_issue: bool = False) -> Iterator[Trace]:
    """Record what this thread reads in a new trace.

    :param is_of_issue: see :class:`Trace`
    """
    trace = Trace(is_of_issue)
    reset = _trace.set(trace)
    try:
        yield trace
    finally:
        _trace.reset(reset)


def note(key: str, fingerprint: bytes, until: float) -> None:
    """Record a fact in the trace of this thread, if there is one."""
    trace = _trace.get()
    if trace is not None:
        trace.note(key, Fact(fingerprint, until))


def issued() -> bool:
    """Discard the facts in the trace of this thread, if it is of an issue.

    The caller then reads only what a validation of the token reads.

    :returns: whether there is such a trace
    """
    trace = _trace.get()
    if trace is None or not trace.is_of_issue:
        return False
    trace.restart()
    return True


def end_in(seconds: float) -> None:
    """Limit the lifetime of the trace of this thread.

    For values kept outside of the cache, under the id of a region that is
    recorded as a fact.
    """
    trace = _trace.get()
    if trace is not None:
        trace.end_in(seconds)


def apart(function: Any) -> Any:
    """Decorate a function whose reads are excluded from the trace.

    Its result is a fact itself, or is compared in another way.
    """

    @functools.wraps(function)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        trace = _trace.get()
        if trace is None:
            return function(*args, **kwargs)
        trace._depth += 1
        try:
            return function(*args, **kwargs)
        finally:
            trace._depth -= 1

    return wrapper


def fingerprint(stored: bytes) -> bytes:
    """Compute the fingerprint of a stored value.

    :param stored: value in a :class:`keystone.common.cache.stores.Store`
    """
    return hashlib.blake2b(stored, digest_size=_FINGERPRINT).digest()


@event.listens_for(sqlalchemy.Engine, 'before_cursor_execute')
def note_uncached(*_args: Any) -> None:
    """Record that this thread reads something that is not cached."""
    trace = _trace.get()
    # What is read to compute a fact belongs to that fact.
    if trace is not None and not trace._depth and trace.flaw is None:
        trace.flaw = 'database'


# The values that the current request has read, by key.


def known(key: str) -> Any:
    """A value that was read; None otherwise, or without a request."""
    context = request_local.current()
    return None if context is None else _values(context).get(key)


def keep(key: str, value: Any) -> None:
    """Keep a value until the request ends."""
    context = request_local.current()
    if context is not None:
        _values(context)[key] = value


@contextlib.contextmanager
def recording_keys() -> Iterator[dict[str, bool]]:
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
    """Make the values offered in the block available in it, for a second."""
    reset = _ahead.set({_UNTIL: time.monotonic() + _AHEAD})
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
    if ahead is None or time.monotonic() > ahead[_UNTIL]:
        return None
    return ahead.pop(key, None)


def forget(key: str) -> None:
    """Have the request read it again."""
    _pop(key)
    context = request_local.current()
    if context is not None:
        _values(context).pop(key, None)


def _values(context: Any) -> dict[str, Any]:
    return vars(context).setdefault(_VALUES, {})
