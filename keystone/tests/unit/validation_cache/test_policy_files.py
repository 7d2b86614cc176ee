# SPDX-License-Identifier: Apache-2.0

import http.client
import os

import fixtures

from keystone.common import provider_api
from keystone.tests import unit
from keystone.tests.unit.validation_cache import base

PROVIDERS = provider_api.ProviderAPIs


class PolicyTests(base.ValidationCacheTestCase):
    """An answer falls with the policy that allowed it."""

    def config_overrides(self):
        super().config_overrides()
        folder = self.useFixture(fixtures.TempDir()).path
        self.path = os.path.join(folder, 'policy.yaml')
        self.folder = os.path.join(folder, 'more')
        self.write(self.path, {})
        self.config_fixture.config(
            group='oslo_policy',
            policy_file=self.path,
            policy_dirs=[self.folder],
        )

    def write(self, path, rules, later=0):
        with open(path, 'w') as stream:
            for name, rule in rules.items():
                stream.write(f'"{name}": "{rule}"\n')
            stream.write('"a": "@"\n')
        found = os.stat(path).st_mtime + later
        os.utime(path, (found, found))

    def test_file_changes(self):
        subject = self.get_scoped_token()
        self.ask(subject)
        self.assertHit(subject)

        self.write(self.path, {'identity:validate_token': '!'}, later=5)
        self.assertNoHit(subject, status=http.client.FORBIDDEN)

        self.write(self.path, {}, later=10)
        self.assertHit(subject)

    def test_file_appears_in_a_folder(self):
        subject = self.get_scoped_token()
        self.ask(subject)
        self.assertHit(subject)

        os.mkdir(self.folder)
        self.write(
            os.path.join(self.folder, 'one.yaml'),
            {'identity:validate_token': '!'},
            later=5,
        )

        self.assertNoHit(subject, status=http.client.FORBIDDEN)

    def test_rule_that_asks_elsewhere(self):
        self.write(
            self.path,
            {'identity:validate_token': '@ or http://127.0.0.1:9/x'},
            later=5,
        )
        subject = self.get_scoped_token()
        # It loads the rules; then they are known.
        self.ask(subject)
        self.assertHit(subject)

        for record in self.cache._records.values():
            if record.caller is not None:
                self.assertEqual(set(), record.caller._kept[1])

    def test_decisions_count_towards_the_size(self):
        rule = 'not user_id:of-%(target.token.user_id)s'
        self.write(self.path, {'identity:validate_token': rule}, later=5)
        self.ask()
        self.ask()
        (record,) = self.cache._records.values()
        size = record.size
        for _ in range(3):
            user = unit.create_user(PROVIDERS.identity_api, self.domain_id)
            self.ask(
                self.get_requested_token(
                    self.build_authentication_request(
                        user_id=user['id'], password=user['password']
                    )
                )
            )

        self.assertLess(size + 3 * 100, record.size)
        self.assertEqual(
            sum(one.size for one in self.cache._records.values()),
            self.cache._records.currsize,
        )
