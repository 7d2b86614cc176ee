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

import datetime
import http.client
import os
import threading

import fixtures
from oslo_utils import timeutils
from testtools import matchers

from keystone.common import cache
from keystone.common.cache import health
from keystone.common.cache import stamps
from keystone.common import provider_api
from keystone.models import revoke_model
from keystone.revoke import core
from keystone.tests import unit
from keystone.tests.unit.ksfixtures import shared_cache
from keystone.tests.unit.validation_cache import base

PROVIDERS = provider_api.ProviderAPIs


class ConditionTests(base.ValidationCacheTestCase):
    """An answer is given again only while all it rested on holds."""

    def setUp(self):
        super().setUp()
        self.subject = self.get_scoped_token()
        self.ask(self.subject)
        self.assertHit(self.subject)

    def at(self, **delta):
        """Let it be later."""
        now = timeutils.utcnow() + datetime.timedelta(**delta)
        self.useFixture(
            fixtures.MonkeyPatch('oslo_utils.timeutils.utcnow', lambda: now)
        )

    def test_lifetime(self):
        self.at(seconds=290)
        self.assertHit(self.subject)
        self.at(seconds=11)

        with self.counted(miss__expired=1, kept=1):
            self.ask(self.subject)
        self.assertHit(self.subject)

    def test_clock_that_went_back(self):
        self.at(seconds=-10)

        with self.counted(miss__clock=1, kept=1):
            self.ask(self.subject)

    def test_lifetime_is_at_most_any_cache_time(self):
        for section in ('token', 'identity', 'resource', 'role', 'catalog'):
            self.config_fixture.config(group=section, cache_time=5)
            self.cache.clear()
            self.ask(self.subject)
            (entry,) = self.cache._store._entries.values()
            seconds = (entry.until - entry.made).total_seconds()
            self.assertThat(seconds, matchers.LessThan(5.001))
            self.config_fixture.config(group=section, cache_time=None)

    def test_expired_subject(self):
        self.config_fixture.config(group='token', validation_cache_time=9999)
        for section in ('token', 'identity', 'resource', 'role', 'catalog'):
            self.config_fixture.config(group=section, cache_time=9999)
        self.config_fixture.config(group='cache', expiration_time=9999)
        self.cache.clear()
        shared_cache.forget_callers()
        self.ask(self.subject)
        self.at(seconds=3000)
        with self.counted(hit=1):
            self.ask(self.subject)
        self.at(seconds=601)

        with self.counted(miss__expired=1):
            self.ask(self.subject)

    def test_revoked_subject(self):
        self.delete(
            '/auth/tokens',
            headers={'X-Subject-Token': self.subject},
            token=self.token,
        )

        self.assertNoHit(self.subject, status=http.client.NOT_FOUND)

    def test_revoked_caller(self):
        self.delete(
            '/auth/tokens',
            headers={'X-Subject-Token': self.token},
            token=self.subject,
        )

        self.assertNoHit(self.subject, status=http.client.UNAUTHORIZED)

    def test_revocation_leaves_other_answers(self):
        other = self.get_scoped_token()
        self.ask(other)
        for _ in range(3):
            self.delete(
                '/auth/tokens',
                headers={'X-Subject-Token': self.get_scoped_token()},
                token=self.token,
            )

        # One request reads the events.
        with self.counted(synced=1, hit=1):
            answer = self.ask(self.subject)
        self.assertSame(self.ask_past(self.subject), answer)
        self.assertHit(self.subject)
        self.assertHit(other)

    def test_event_of_a_role(self):
        PROVIDERS.revoke_api.revoke(
            revoke_model.RevokeEvent(role_id=self.role_id)
        )

        self.assertNoHit(self.subject, status=http.client.UNAUTHORIZED)

    def test_changed(self):
        cache.CACHE_REGION.invalidate()

        with self.counted(miss__changed=1, kept=1):
            self.ask(self.subject)
        self.assertHit(self.subject)

    def test_value_that_it_does_not_rest_on(self):
        before = self.ask(self.subject)
        stamps.written()

        self.assertSame(before, self.assertHit(self.subject))

    def test_value_that_it_rests_on(self):
        PROVIDERS.identity_api.get_user.invalidate(
            PROVIDERS.identity_api, self.user_id
        )

        with self.counted(miss__changed=1, kept=1):
            self.ask(self.subject)
        self.assertHit(self.subject)

    def test_what_others_do(self):
        before = self.ask(self.subject)
        user = unit.create_user(PROVIDERS.identity_api, self.domain_id)
        project = unit.new_project_ref(domain_id=self.domain_id)
        role = unit.new_role_ref()
        for change, *args in (
            (PROVIDERS.resource_api.create_project, project['id'], project),
            (PROVIDERS.role_api.create_role, role['id'], role),
            (
                PROVIDERS.assignment_api.add_role_to_user_and_project,
                user['id'],
                project['id'],
                role['id'],
            ),
            (
                PROVIDERS.resource_api.update_project,
                project['id'],
                {'description': 'new'},
            ),
            (
                PROVIDERS.assignment_api.delete_grant,
                role['id'],
                user['id'],
                None,
                None,
                project['id'],
            ),
            (
                PROVIDERS.identity_api.update_user,
                user['id'],
                {'enabled': False},
            ),
            (PROVIDERS.identity_api.delete_user, user['id']),
            (PROVIDERS.resource_api.delete_project, project['id']),
        ):
            change(*args)
            kept = self.cache.counts['kept']
            self.assertSame(before, self.ask(self.subject))
            self.assertEqual(kept, self.cache.counts['kept'], change)

    def test_facts_that_cannot_be_read(self):
        stamps.written()
        self.useFixture(
            fixtures.MockPatch(
                'keystone.common.cache.facts.read', side_effect=OSError
            )
        )
        self.useFixture(
            fixtures.MockPatch(
                'keystone.common.cache.health.SERVERS', health.Health()
            )
        )

        with self.counted(miss__changed=1, kept=1):
            self.ask(self.subject)

    def test_project_disabled(self):
        self.patch(
            f'/projects/{self.project_id}',
            body={'project': {'enabled': False}},
            token=self.get_system_scoped_token(),
        )

        self.assertNoHit(self.subject, status=http.client.NOT_FOUND)

    def test_new_role(self):
        role = unit.new_role_ref()
        PROVIDERS.role_api.create_role(role['id'], role)
        PROVIDERS.assignment_api.create_grant(
            role['id'], user_id=self.user_id, project_id=self.project_id
        )

        answer = self.assertNoHit(self.subject)
        self.assertIn(role['name'].encode(), answer[2])

    def test_database_that_fails(self):
        """What cannot be shown to be unrevoked takes the usual way."""
        self.config_fixture.config(group='revoke', sync_interval=0)
        # Another worker has revoked something.
        PROVIDERS.revoke_api.driver.revoke(
            revoke_model.RevokeEvent(audit_id='another')
        )
        core.REVOKE_REGION.invalidate()

        def fail(*_args, **_kwargs):
            raise RuntimeError('away')

        self.useFixture(
            fixtures.MonkeyPatch(
                'keystone.revoke.table_copy.TableCopy.sync', fail
            )
        )
        with self.counted(miss__events=1):
            answer = self.ask(self.subject)
        self.assertSame(self.ask_past(self.subject), answer)
        self.assertNotIn('200', answer[0])


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
        self.assertNoHit(subject)
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

        with self.counted(miss__unknown=1, not_kept__policy=1):
            self.ask(subject)


class LateTests(base.ValidationCacheTestCase):
    """Answers that come late."""

    def hold(self, after=None):
        """Hold the next full answer until it is let go.

        :param after: function to call as soon as it is held
        """
        app = self.middleware._app
        held, go = threading.Event(), threading.Event()

        def holding(environ, start_response):
            answer = app(environ, start_response)
            if not held.is_set():
                held.set()
                go.wait(20)
            return answer

        self.middleware._app = holding
        self.addCleanup(setattr, self.middleware, '_app', app)
        return held, go

    def test_late_answer_gives_way_to_a_newer_truth(self):
        subject = self.get_scoped_token()
        held, go = self.hold()
        late = []
        thread = threading.Thread(
            target=lambda: late.append(self.ask(subject))
        )
        thread.start()
        self.assertTrue(held.wait(20))
        role = unit.new_role_ref()
        PROVIDERS.role_api.create_role(role['id'], role)
        PROVIDERS.assignment_api.create_grant(
            role['id'], user_id=self.user_id, project_id=self.project_id
        )
        self.useFixture(
            fixtures.MonkeyPatch(
                'keystone.token.validation_cache.cache._LONGEST_WAIT', 0
            )
        )
        truth = self.ask(subject)
        self.assertIn(role['name'].encode(), truth[2])
        kept = list(self.cache._store._entries.values())

        go.set()
        thread.join(20)

        self.assertNotIn(role['name'].encode(), late[0][2])
        self.assertEqual(kept, list(self.cache._store._entries.values()))
        self.assertSame(truth, self.assertHit(subject))

    def test_late_answer_alone_is_not_given_again(self):
        subject = self.get_scoped_token()
        held, go = self.hold()
        thread = threading.Thread(target=self.ask, args=(subject,))
        thread.start()
        self.assertTrue(held.wait(20))
        cache.CACHE_REGION.invalidate()
        go.set()
        thread.join(20)

        with self.counted(miss__changed=1, kept=1):
            self.ask(subject)

    def test_later_answer_is_given_to_an_early_request(self):
        subject = self.get_scoped_token()
        early = self.cache.look(self.environ(subject))
        with self.counted(miss__unknown=1, kept=1):
            self.ask(subject)

        self.assertIsNotNone(self.cache.find(early))

    def test_early_request_leaves_a_later_answer(self):
        subject = self.get_scoped_token()
        early = self.cache.look(self.environ(subject))
        cache.CACHE_REGION.invalidate()
        with self.counted(miss__unknown=1, kept=1):
            self.ask(subject)

        with self.counted(miss__changed=1):
            self.assertIsNone(self.cache.find(early))
        self.assertHit(subject)

    def test_early_request_waits_for_a_later_answer(self):
        subject = self.get_scoped_token()
        look = self.cache.look
        early = look(self.environ(subject))
        cache.CACHE_REGION.invalidate()
        held, go = self.hold()
        thread = threading.Thread(target=self.ask, args=(subject,))
        thread.start()
        self.assertTrue(held.wait(20))
        join = self.cache.lead

        def wait(look):
            go.set()
            return join(look)

        looks = iter([early])
        self.cache.lead = wait
        self.cache.look = lambda environ: next(looks, None) or look(environ)
        with self.counted(
            miss__unknown=1, miss__changed=1, waited=1, kept=1, hit=1
        ):
            answer = self.ask(subject)
            thread.join(20)

        del self.cache.look, self.cache.lead
        self.assertSame(self.assertHit(subject), answer)
