# SPDX-License-Identifier: Apache-2.0

import fixtures

from keystone.common import password_checks
from keystone.common import password_hashing


class CountsHashes(fixtures.Fixture):
    """Counts the hashes that one process computes to check passwords.

    :ivar now: seconds of the clock
    :ivar checks: what the process remembers
    :ivar count: how many hashes were computed
    """

    def __init__(self, most=10000):
        super().__init__()
        self.most = most
        self.now = 1000.0
        self.count = 0

    def _setUp(self):
        self.checks = password_checks.PasswordChecks(
            lambda: self.now, self.most
        )
        self.useFixture(
            fixtures.MockPatchObject(password_checks, 'CHECKS', self.checks)
        )
        for hasher in password_hashing.SUPPORTED_HASHERS:
            self.useFixture(
                fixtures.MockPatchObject(
                    hasher, 'verify', self._counted(hasher.verify)
                )
            )

    def _counted(self, verify):
        def counted(password, hashed):
            self.count += 1
            return verify(password, hashed)

        return counted

    def of(self, function, *args, **kwargs):
        """Call a function; how many hashes it has computed."""
        before = self.count
        function(*args, **kwargs)
        return self.count - before
