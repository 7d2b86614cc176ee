# SPDX-License-Identifier: Apache-2.0

"""What an answer was made of, and whether it is as it was.

A *fact* is one value that was read through the cache. While something is
computed, a :class:`Trace` notes each fact with the fingerprint of what is
stored for it. Invariant: a fact is read before it is used, and compared
afterwards; while all fingerprints are the same, the same computation would
read the same values. What is read in order to make a fact belongs to that
fact alone. What is read past the cache can change unseen: a trace that saw
such a read vouches for nothing.
"""

from collections.abc import Iterator
import contextlib
import contextvars
import functools
import hashlib
import math
import pickle  # nosec: only written
import time
from typing import Any
from typing import NamedTuple

import sqlalchemy
from sqlalchemy import event

_FINGERPRINT = 16  # bytes

#: A fact that is not stored, so that nothing can be compared with it.
MISSING = b''

#: Attribute of what :func:`apart` makes of a function: that function.
TRACED = '_traced_function'

#: Begins the key of a fact that is the id of a region.
ID = '#'

_trace: contextvars.ContextVar[Any] = contextvars.ContextVar(
    'trace', default=None
)


class Fact(NamedTuple):
    """A value that was read.

    :ivar fingerprint: bytes that change with the stored value
    :ivar until: seconds since the epoch from which on it has expired
    """

    fingerprint: bytes
    until: float


class Trace:
    """What a computation has read.

    :ivar facts: each :class:`Fact` by its key in the cache
    :ivar flaw: why it vouches for nothing, in one word, or None
    """

    def __init__(self) -> None:
        self._depth = 0
        self.restart()

    def restart(self) -> None:
        """Forget what was read."""
        self.facts: dict[str, Fact] = {}
        self._end = math.inf
        self.flaw: str | None = None

    @property
    def until(self) -> float:
        """Seconds since the epoch from which on something has expired."""
        ends = (one.until for one in self.facts.values())
        return min(self._end, min(ends, default=0))

    @property
    def is_whole(self) -> bool:
        """Whether all that was read can be compared."""
        return self.flaw is None and all(
            one.fingerprint != MISSING for one in self.facts.values()
        )

    def note(self, key: str, fact: Fact) -> None:
        """Note a fact, unless it was read to make another one."""
        if self._depth:
            return
        before = self.facts.get(key, fact).fingerprint
        if before not in (MISSING, fact.fingerprint) and self.flaw is None:
            # One part of what is made rests on this, another part on that.
            self.flaw = 'changed'
        self.facts[key] = fact

    def end_in(self, seconds: float) -> None:
        """Note that something expires, unless it was read for a fact."""
        if not self._depth:
            self._end = min(self._end, time.time() + seconds)

    def note_past_cache(self, why: str) -> None:
        """Note a read past the cache, unless it was made for a fact."""
        if not self._depth and self.flaw is None:
            self.flaw = why


@contextlib.contextmanager
def tracing() -> Iterator[Trace]:
    """Note what this thread reads in a new trace."""
    trace = Trace()
    reset = _trace.set(trace)
    try:
        yield trace
    finally:
        _trace.reset(reset)


def note(key: str, fingerprint: bytes, until: float) -> None:
    """Note a fact in the trace of this thread, if there is one."""
    trace = _trace.get()
    if trace is not None:
        trace.note(key, Fact(fingerprint, until))


def restart() -> bool:
    """Forget what the trace of this thread has seen up to now.

    For what begins with values that need no vouching for.

    :returns: whether there is a trace
    """
    trace = _trace.get()
    if trace is not None:
        trace.restart()
    return trace is not None


def end_in(seconds: float) -> None:
    """Tell the trace of this thread for how long something may be used.

    It is for what is kept elsewhere than in the cache, under the id of a
    region that is noted as a fact.
    """
    trace = _trace.get()
    if trace is not None:
        trace.end_in(seconds)


def apart(function: Any) -> Any:
    """Decorate a function whose reads are no part of what is traced.

    It makes a fact from them, or what they tell is compared in another way.
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

    setattr(wrapper, TRACED, function)
    return wrapper


def fingerprint(stored: Any) -> bytes:
    """Tell a stored value from all others.

    :param stored: what a :class:`keystone.common.cache.stores.Store` has
    """
    if not isinstance(stored, bytes):
        stored = pickle.dumps(stored)
    return hashlib.blake2b(stored, digest_size=_FINGERPRINT).digest()


@event.listens_for(sqlalchemy.Engine, 'before_cursor_execute')
def _note_statement(*_args: Any) -> None:
    trace = _trace.get()
    if trace is not None:
        trace.note_past_cache('database')
