# SPDX-License-Identifier: Apache-2.0

"""Two Keystones: revoke on one, validate on the other."""

import http.client
import os

from patchset.tests.integration import keystones

ROUNDS = int(os.environ.get('KS_ROUNDS', 2000))


class TwoKeystonesTestCase(keystones.KeystonesTestCase):
    def accepted(self, cache):
        """How often a token passed that was revoked on the other one."""
        one, two = self.keystones(cache)
        caller = one.issue(keystones.ADMIN)
        accepted = 0
        for _ in range(ROUNDS):
            token = one.issue(keystones.ADMIN)
            self.assertEqual(http.client.OK, two.validate(caller, token))
            self.assertEqual(http.client.NO_CONTENT, one.revoke(caller, token))
            status = two.validate(caller, token)
            accepted += status == http.client.OK
            self.assertIn(status, (http.client.OK, http.client.NOT_FOUND))
            one, two = two, one
        self.assertEqual(http.client.OK, two.validate(caller, caller))
        return accepted

    def test_nothing_revoked_is_accepted(self):
        self.assertEqual(0, self.accepted(self.memcached()))

    def test_without_a_shared_cache(self):
        self.assertEqual(0, self.accepted(None))
