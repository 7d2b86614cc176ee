# SPDX-License-Identifier: Apache-2.0

"""Bypassing servers that fail."""

from collections.abc import Callable
import time
from typing import Any

from oslo_log import log

LOG = log.getLogger(__name__)

# Seconds for which servers are bypassed after a failure, and at most after
# repeated slow ones.
_SHORTEST = 2
_LONGEST = 16
# Seconds, much less than the timeout for a server that hangs.
_SLOW = 0.1


class Unavailable(Exception):
    """The servers are unreachable, or bypassed after a failure."""


class CircuitBreaker:
    """Circuit breaker: bypasses servers for a while after a failure.

    :param server: what is bypassed, for the log
    :param clock: callable, returns monotonic seconds
    :param is_refusal: whether a working server returns errors of a type
    """

    def __init__(
        self,
        server: str = 'the cache',
        clock: Callable[[], float] = time.monotonic,
        is_refusal: Callable[[type[Exception]], bool] = lambda _kind: False,
    ) -> None:
        self._server = server
        self._clock = clock
        self._is_refusal = is_refusal
        self._refused: set[type[Exception]] = set()
        self._has_failed = False
        self._rest = _SHORTEST
        self._rests_until = clock()

    @property
    def is_open(self) -> bool:
        """Whether the servers are bypassed."""
        return self._clock() < self._rests_until

    def call(self, function: Callable[..., Any], *args: Any, **kw: Any) -> Any:
        """Call a function that uses the servers.

        :raises Unavailable: if it fails, or another call failed recently
        """
        if self.is_open:
            raise Unavailable()
        begun = self._clock()
        try:
            result = function(*args, **kw)
        except Exception as error:
            kind = type(error)
        else:
            if self._has_failed:
                self._has_failed, self._rest = False, _SHORTEST
                LOG.info('Using %s again.', self._server)
            return result
        # Above, oslo.log appends the message, which may have credentials.
        if self._is_refusal(kind):
            if kind not in self._refused:
                self._refused.add(kind)
                LOG.warning('Error of %s: %s.', self._server, kind.__name__)
        elif not self.is_open:
            # One of several concurrent calls that fail opens it.
            self._open(kind, begun)
        raise Unavailable()

    def _open(self, kind: type[Exception], begun: float) -> None:
        """Bypass the servers after an error of a call begun at some time."""
        now = self._clock()
        self._rests_until = now + self._rest
        if now - begun >= _SLOW:
            self._rest = min(2 * self._rest, _LONGEST)
        if not self._has_failed:
            self._has_failed = True
            LOG.warning(
                'Cache error: %(error)s. Bypassing %(server)s until it works '
                'again.',
                {'error': kind.__name__, 'server': self._server},
            )
