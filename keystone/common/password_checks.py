# SPDX-License-Identifier: Apache-2.0

"""Remember which passwords matched their stored hash.

Whether a password matches a stored hash never changes, and nothing else is
remembered here. Callers read the hash, and everything else that a login
depends on, from the database: a changed password has another hash.
"""

from collections.abc import Callable
import hmac
import secrets
import time
from typing import Any

from keystone.common import local_store
import keystone.conf

CONF = keystone.conf.CONF

# Some 300 bytes each.
_MOST = 10000


class PasswordChecks:
    """The verified passwords of this process.

    Thread-safe. Contains no passwords, but digests of passwords and hashes,
    with a key that only exists in memory.

    :param clock: callable that returns monotonic time in seconds
    :param most: maximum number of passwords
    """

    def __init__(
        self, clock: Callable[[], float] = time.monotonic, most: int = _MOST
    ) -> None:
        self._key = secrets.token_bytes(32)
        self._right = local_store.LocalStore(
            most, lambda: CONF.identity.password_check_cache_time, clock
        )

    def verify(self, hasher: Any, password: bytes, hashed: str) -> bool:
        """Tell whether a password matches a hash.

        :param hasher: a
            :class:`keystone.common.password_hashers.PasswordHasher`
        :param password: truncated to the length that the hasher supports
        :param hashed: the currently stored hash
        :raises: errors of the hasher; nothing is remembered then
        """
        if not CONF.identity.password_check_cache_time:
            return hasher.verify(password, hashed)
        digest = self._digest(password, hashed)
        if self._right.get(digest):
            return True
        # Wrong passwords are not remembered, so that guessing stays slow.
        if not hasher.verify(password, hashed):
            return False
        self._right.put(digest, True)
        return True

    def _digest(self, password: bytes, hashed: str) -> bytes:
        stored = hashed.encode()
        # The length makes the encoding unambiguous.
        text = len(stored).to_bytes(8, 'big') + stored + password
        return hmac.digest(self._key, text, 'sha256')


#: The verified passwords of this process.
CHECKS = PasswordChecks()
