# SPDX-License-Identifier: Apache-2.0

"""Two Keystones: revoke on one, validate on the other."""

import http.client
import os
import time

from patchset.livetests import keystones

ROUNDS = int(os.environ.get('KS_ROUNDS', 2000))
BOUND = keystones.BOUND


class TwoKeystonesTestCase(keystones.KeystonesTestCase):
    def run_rounds(self, clients, password, rounds, pause):
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
            time.sleep(pause)
            status = two.validate(caller, token)
            accepted += status == http.client.OK
            self.assertIn(status, (http.client.OK, http.client.NOT_FOUND))
            one, two = two, one
        self.assertEqual(http.client.OK, two.validate(caller, caller))
        return accepted

    def test_nothing_revoked_is_accepted(self):
        clients, password = self.keystones(self.memcached())
        self.assertEqual(0, self.run_rounds(clients, password, ROUNDS, 0))

    def test_without_a_shared_cache(self):
        clients, password = self.keystones(None)
        self.assertEqual(0, self.run_rounds(clients, password, ROUNDS, 0))

    def test_without_a_shared_cache_past_the_bound(self):
        clients, password = self.keystones(
            None, sync_interval_without_cache=BOUND
        )
        rounds = max(1, ROUNDS // 100)
        self.assertEqual(0, self.run_rounds(clients, password, rounds, BOUND))
