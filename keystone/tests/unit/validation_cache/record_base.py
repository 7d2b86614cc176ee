# SPDX-License-Identifier: Apache-2.0

import http.client
import json
import os

import fixtures

from keystone.common.cache import stores
from keystone.common import provider_api
from keystone.credential.providers import fernet
from keystone.tests import unit
from keystone.tests.unit import ksfixtures
from keystone.tests.unit.validation_cache import base

PROVIDERS = provider_api.ProviderAPIs


class RecordTestCase(base.ValidationCacheTestCase):
    """Requests other than validations, about a credential.

    Subclasses have ``arguments``, which returns what differs from the
    environment of a validation.
    """

    def setUp(self):
        super().setUp()
        self.useFixture(
            ksfixtures.KeyRepository(
                self.config_fixture, 'credential', fernet.MAX_ACTIVE_KEYS
            )
        )
        self.owner = unit.create_user(PROVIDERS.identity_api, self.domain_id)

    def inquire(self, **more):
        return self.ask(**self.arguments(**more))

    def inquire_past(self, **more):
        return self.ask_past(**self.arguments(**more))

    def assertRecorded(self, hit=2, **more):
        """A request is answered from records, as normally: its body."""
        asked = self.asked
        with self.counted(hit=hit):
            answer = self.inquire(**more)
        self.assertEqual(asked, self.asked)
        self.assertEqual('200 OK', answer[0])
        self.assertSame(self.inquire_past(**more), answer)
        return json.loads(answer[2])

    def assertNormal(self, status=http.client.OK, **more):
        """A request is processed normally."""
        asked = self.asked
        answer = self.inquire(**more)
        self.assertEqual(asked + 1, self.asked)
        self.assertEqual(str(int(status)), answer[0].partition(' ')[0])
        self.assertSame(self.inquire_past(**more), answer)
        return answer

    def assertBypassed(self, reason, status=http.client.OK, **more):
        """A request is processed normally, for a reason."""
        before = self.cache.counts.copy()
        self.assertNormal(status, **more)
        found = self.cache.counts - before
        self.assertEqual(1, found[f'bypass: {reason}'], found)

    def assertSharedHit(self):
        """Another process answers from records."""
        self.cache.clear()
        with self.counted(shared_hit=2):
            answer = self.inquire()
        self.assertSame(self.inquire_past(), answer)

    def assertOneRoundTrip(self):
        """A request asks the cache once."""
        asked = []
        get_many = stores.ProcessStore.get_many

        def note(store, keys):
            asked.append(keys)
            return get_many(store, keys)

        with fixtures.MockPatchObject(stores.ProcessStore, 'get_many', note):
            self.inquire()
        self.assertEqual(1, len(asked))


class PolicyMixin:
    """A policy file with a rule for :attr:`action`."""

    action: str

    def config_overrides(self):
        super().config_overrides()
        folder = self.useFixture(fixtures.TempDir()).path
        self.policy = os.path.join(folder, 'policy.yaml')
        self.set_rule('@', 0)
        self.config_fixture.config(
            group='oslo_policy', policy_file=self.policy
        )

    def set_rule(self, rule, later):
        """Write a rule, so many seconds later than now."""
        with open(self.policy, 'w') as stream:
            stream.write(f'"{self.action}": "{rule}"\n')
        found = os.stat(self.policy).st_mtime + later
        os.utime(self.policy, (found, found))
