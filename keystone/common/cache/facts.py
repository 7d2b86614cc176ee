# Licensed under the Apache License, Version 2.0 (the "License"); you may
# not use this file except in compliance with the License. You may obtain
# a copy of the License at
#
#      http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the
# License for the specific language governing permissions and limitations
# under the License.

"""What an answer was made of, and whether that is as it was.

A *fact* is one value that was read through the cache. While something is
computed, a :class:`Trace` notes each fact with what is stored for it.
Invariant: a fact is read before it is used, and compared afterwards. While all
facts are the same, the same computation would read the same values.

What is read in order to make a fact belongs to that fact alone. What is read
past the cache can change unseen: a trace that saw such a read vouches for
nothing.
"""

from collections.abc import Callable
from collections.abc import Iterator
import contextlib
import contextvars
import functools
import hashlib
import math
from typing import Any
from typing import NamedTuple

import sqlalchemy
from sqlalchemy import event

from keystone.common.cache import stamps

_FINGERPRINT = 16  # bytes

#: Attribute of what :func:`apart` makes of a function: that function.
TRACED = '_traced_function'

_trace: contextvars.ContextVar[Any] = contextvars.ContextVar(
    'trace', default=None
)


class Fact(NamedTuple):
    """A value that was read.

    :ivar fingerprint: bytes that change with what is stored
    :ivar layer: the proxy of the region that it was read through
    """

    fingerprint: bytes
    layer: Any


class Trace:
    """What a computation has read."""

    def __init__(self) -> None:
        self._read: dict[str, tuple[Any, bytes]] = {}
        self._known: dict[str, Fact] = {}
        self._until = math.inf
        self._is_whole = True
        self._depth = 0

    def note(self, layer: Any, key: str, stored: bytes) -> None:
        """Note a fact, unless it was read in order to make another one."""
        if not self._depth:
            self._read[key] = layer, stored
            if layer.region_name in stamps.DROPPED_FOR_OTHERS:
                self._is_whole = False

    def note_past_cache(self) -> None:
        """Note a read past the cache, unless it was made for a fact."""
        if not self._depth:
            self._is_whole = False

    def add(self, facts: dict[str, 'Fact'] | None, until: float) -> None:
        """Add what something else rests on, which this rests on now.

        :param facts: what :meth:`facts` gave for it
        :param until: what :meth:`until` gave for it
        """
        if not self._depth:
            self._is_whole = self._is_whole and facts is not None
            self._known.update(facts or {})
            self._until = min(self._until, until)

    def join(self, inner: 'Trace') -> None:
        """Add all that another trace has seen."""
        if not self._depth:
            self._read.update(inner._read)
            self._is_whole = self._is_whole and inner._is_whole
            self.add(inner._known, inner._until)

    def facts(self) -> dict[str, 'Fact'] | None:
        """The facts, by their keys in the cache.

        :returns: None if these are not all that was read
        """
        if not self._is_whole:
            return None
        found = {
            key: Fact(fingerprint(stored), layer)
            for key, (layer, stored) in self._read.items()
        }
        return {**self._known, **found}

    def until(self, expiry: Callable[[str, bytes], float]) -> float:
        """When the first fact expires, in seconds since the epoch.

        :param expiry: tells so of one fact, by its key and what is stored
        """
        found = [expiry(key, one) for key, (_, one) in self._read.items()]
        return min([self._until, *found])


@contextlib.contextmanager
def tracing() -> Iterator[Trace]:
    """Note what this thread reads in a trace of its own, too."""
    outer = _trace.get()
    trace = Trace()
    reset = _trace.set(trace)
    try:
        yield trace
    finally:
        _trace.reset(reset)
        if outer is not None:
            outer.join(trace)


def current() -> Trace | None:
    """The trace of this thread, if there is one."""
    return _trace.get()


def note(layer: Any, key: str, stored: bytes) -> None:
    """Note a fact in the trace of this thread, if there is one.

    :param layer: the :class:`keystone.common.cache.process_cache.Proxy` that
        it was read through
    :param key: its key there, mangled
    :param stored: the value as that proxy keeps it
    """
    trace = _trace.get()
    if trace is not None:
        trace.note(layer, key, stored)


def apart(function: Any, is_kept: Any = None) -> Any:
    """Decorate a function whose reads are no part of what is traced.

    It makes a fact from them, or what they tell is compared in another way.

    :param is_kept: tells of its result whether it is stored as a fact
    """

    @functools.wraps(function)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        trace = _trace.get()
        if trace is None:
            return function(*args, **kwargs)
        trace._depth += 1
        try:
            result = function(*args, **kwargs)
        finally:
            trace._depth -= 1
        if is_kept is not None and not is_kept(result):
            trace.note_past_cache()
        return result

    setattr(wrapper, TRACED, function)
    return wrapper


def fingerprint(stored: bytes) -> bytes:
    """Tell a stored value from all others."""
    return hashlib.blake2b(stored, digest_size=_FINGERPRINT).digest()


def read(facts: dict[str, Fact]) -> dict[str, bytes | None]:
    """Read what facts are now, past all that this process has of them.

    :returns: fingerprints by key; None for what is not there
    :raises Exception: what the cache server's client raises, if that fails
    """
    by_place: dict[Any, tuple[Any, list[str]]] = {}
    for key, fact in facts.items():
        layer = fact.layer
        by_place.setdefault(layer.place, (layer, []))[1].append(key)
    found = {}
    for layer, keys in by_place.values():
        stored = layer.read_stored(keys)
        found.update(zip(keys, [one and fingerprint(one) for one in stored]))
    return found


@event.listens_for(sqlalchemy.Engine, 'before_cursor_execute')
def _note_statement(*_args: Any) -> None:
    trace = _trace.get()
    if trace is not None:
        trace.note_past_cache()
