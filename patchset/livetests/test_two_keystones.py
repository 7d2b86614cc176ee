# SPDX-License-Identifier: Apache-2.0

"""Two Keystones: revoke on one, validate on the other."""

import http.client
import os

from patchset.livetests import keystones

ROUNDS = int(os.environ.get('KS_ROUNDS', 2000))


class TwoKeystonesTestCase(keystones.KeystonesTestCase):
    def run_rounds(self, clients, password, rounds):
        one, two = clients
        user = {
            'name': 'admin',
            'password': password,
            'domain': {'id': 'default'},
        }
        caller = one.issue(methods=['password'], password={'user': user})
        accepted = 0
        for _ in range(rounds):
            token = one.issue(methods=['password'], password={'user': user})
            self.assertEqual(http.client.OK, two.validate(caller, token))
            self.assertEqual(http.client.NO_CONTENT, one.revoke(caller, token))
            status = two.validate(caller, token)
            accepted += status == http.client.OK
            self.assertIn(status, (http.client.OK, http.client.NOT_FOUND))
            one, two = two, one
        self.assertEqual(http.client.OK, two.validate(caller, caller))
        return accepted

    def test_nothing_revoked_is_accepted(self):
        clients, password = self.keystones(self.memcached())
        self.assertEqual(0, self.run_rounds(clients, password, ROUNDS))

    def test_without_a_shared_cache(self):
        clients, password = self.keystones(None)
        self.assertEqual(0, self.run_rounds(clients, password, ROUNDS))
