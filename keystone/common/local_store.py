# SPDX-License-Identifier: Apache-2.0

"""Values kept in the memory of a process."""

from collections.abc import Callable
from collections.abc import Hashable
import threading
import time
from typing import Any

import cachetools

from keystone.common import after_fork


class LocalStore:
    """A bounded store of this process.

    Thread-safe. In a forked process, it is empty.

    :param most: maximum number of values; those not used for longest go first
    :param lifetime: callable, returns for how many seconds a new value is
        kept; None does not limit that
    :param clock: callable, returns monotonic seconds
    """

    def __init__(
        self,
        most: int,
        lifetime: Callable[[], float] | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._most = most
        self._lifetime = lifetime
        self._clock = clock
        after_fork.call_now_and_after_fork(self._reset)

    def _reset(self) -> None:
        self._lock = threading.Lock()
        lifetime = self._lifetime
        self._values: Any = (
            cachetools.LRUCache(self._most)
            if lifetime is None
            else cachetools.TLRUCache(
                self._most, lambda _key, _value, now: now + lifetime(),
                self._clock,
            )
        )  # fmt: skip

    def get(self, key: Hashable, default: Any = None) -> Any:
        """A value; the default if it is not there."""
        with self._lock:
            # Values also expire if no other is added.
            if self._lifetime is not None:
                self._values.expire()
            return self._values.get(key, default)

    def put(self, key: Hashable, value: Any) -> None:
        """Keep a value."""
        with self._lock:
            self._values[key] = value

    def setdefault(self, key: Hashable, value: Any) -> Any:
        """Keep a value unless there is one; the one that is kept then."""
        with self._lock:
            return self._values.setdefault(key, value)

    def __len__(self) -> int:
        with self._lock:
            return len(self._values)
