# SPDX-License-Identifier: Apache-2.0

import http.client
import time
from unittest import mock

import fixtures
from testtools import matchers

from keystone.common import after_fork
from keystone.common import cache
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

    def forget(self):
        self.cache.clear()
        shared_cache.forget_records()

    def test_lifetime(self):
        self.at(seconds=500)
        self.assertHit(self.subject)
        self.at(seconds=601)

        with self.counted(miss__expired=2, made=2):
            self.ask(self.subject)

    def test_clock_that_went_back(self):
        self.at(seconds=-100)

        with self.counted(miss__clock=2, made=2):
            self.ask(self.subject)

    def test_lifetime_is_at_most_any_cache_time(self):
        for section in ('identity', 'resource', 'role'):
            self.config_fixture.config(group=section, cache_time=5)
            self.forget()
            self.ask(self.subject)
            ends = [one.until for one in self.cache._records.values()]
            self.assertThat(
                min(ends) - time.time(), matchers.LessThan(5.001), section
            )
            self.config_fixture.config(group=section, cache_time=None)

    def test_expired_subject(self):
        self.config_fixture.config(group='token', expiration=300)
        subject = self.get_scoped_token()
        self.ask(subject)
        self.at(seconds=250)
        with self.counted(hit=2):
            self.ask(subject)
        self.at(seconds=301)

        self.assertNoHit(subject, status=http.client.NOT_FOUND)

    def test_expired_token_of_a_caller_about_itself(self):
        """It is computed once for the records, and once normally."""
        self.config_fixture.config(group='token', expiration=300)
        token = self.get_scoped_token()
        self.at(seconds=301)
        provider, computed = PROVIDERS.token_provider_api, []
        validate = provider._validate_token

        def note(*args):
            computed.append(args)
            return validate(*args)

        self.useFixture(
            fixtures.MockPatchObject(provider, '_validate_token', note)
        )
        answer = self.ask(token, token)

        self.assertEqual('401', answer[0].partition(' ')[0])
        self.assertEqual(2, len(computed))

    def test_expired_subject_that_is_allowed(self):
        self.config_fixture.config(group='token', expiration=300)
        subject, query = self.get_scoped_token(), 'allow_expired=1'
        self.ask(subject, QUERY_STRING=query)
        self.assertHit(subject, QUERY_STRING=query)
        self.at(seconds=301)
        self.assertNoHit(subject, QUERY_STRING=query)

        PROVIDERS.token_provider_api.revoke_token(subject)

        self.assertNoHit(
            subject, status=http.client.NOT_FOUND, QUERY_STRING=query
        )

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

    def test_more_events_than_memory_may_have(self):
        """The database is asked for those of a token."""
        self.config_fixture.config(group='revoke', max_events_in_memory=1)
        for audit_id in ('another', 'one more'):
            PROVIDERS.revoke_api.revoke(
                revoke_model.RevokeEvent(audit_id=audit_id)
            )
        for _ in range(2):
            self.assertHit(self.subject)
        replica = PROVIDERS.revoke_api.token_check.replica(
            PROVIDERS.revoke_api.driver
        )
        self.assertIsNone(replica.view)

        self.test_revoked_subject()

    def test_revocation_leaves_other_answers(self):
        other = self.get_scoped_token()
        self.ask(other)
        for _ in range(3):
            self.delete(
                '/auth/tokens',
                headers={'X-Subject-Token': self.get_scoped_token()},
                token=self.token,
            )

        self.assertHit(self.subject)
        self.assertHit(other)

    def test_event_of_a_role(self):
        PROVIDERS.revoke_api.revoke(
            revoke_model.RevokeEvent(role_id=self.role_id)
        )

        self.assertNoHit(self.subject, status=http.client.UNAUTHORIZED)

    def test_changed(self):
        cache.CACHE_REGION.invalidate()

        with self.counted(miss__changed=2, made=2):
            self.ask(self.subject)
        self.assertHit(self.subject)

    def test_value_that_it_rests_on(self):
        PROVIDERS.identity_api.get_user.invalidate(
            PROVIDERS.identity_api, self.user_id
        )

        with self.counted(miss__changed=2, made=2):
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
            with self.counted(hit=2):
                self.assertSame(before, self.ask(self.subject))

    def test_facts_that_cannot_be_read(self):
        fail = fixtures.MockPatch(
            'keystone.tests.unit.ksfixtures.shared_cache.SharedMemory'
            '.get_multi',
            side_effect=OSError,
        )
        with fail, self.counted(miss__cache=1):
            answer = self.ask(self.subject)
        self.assertSame(self.ask_past(self.subject), answer)

    def test_project_disabled(self):
        self.patch(
            f'/projects/{self.project_id}',
            body={'project': {'enabled': False}},
            token=self.get_system_scoped_token(),
        )

        self.assertNoHit(self.subject, status=http.client.NOT_FOUND)

    def test_user_disabled_in_a_directory(self):
        """The first request revokes the user's tokens."""
        identity, answers = PROVIDERS.identity_api, []
        for ask in (self.ask_past, self.ask):
            user = unit.create_user(identity, self.domain_id)
            token = self.get_requested_token(
                self.build_authentication_request(
                    user_id=user['id'], password=user['password']
                )
            )
            self.ask(token)
            identity.driver.update_user(user['id'], {'enabled': False})
            identity.get_user.invalidate(identity, user['id'])
            for _ in range(2):
                status, _headers, body = ask(token)
                answers.append((status, body.replace(token.encode(), b'')))

        self.assertEqual(answers[:2], answers[2:])

    def test_options_that_differ_after_a_restart(self):
        self.assertNotIn(b'is_admin_project', self.ask(self.subject)[2])
        self.config_fixture.config(
            group='resource',
            admin_project_name=self.project['name'],
            admin_project_domain_name=self.domain['name'],
        )
        after_fork.run()

        answer = self.assertNoHit(self.subject)

        self.assertIn(b'"is_admin_project": true', answer[2])
        self.assertSame(answer, self.assertHit(self.subject))

    def test_new_role(self):
        role = unit.new_role_ref()
        PROVIDERS.role_api.create_role(role['id'], role)
        PROVIDERS.assignment_api.create_grant(
            role['id'], user_id=self.user_id, project_id=self.project_id
        )

        answer = self.assertNoHit(self.subject)
        self.assertIn(role['name'].encode(), answer[2])

    def test_database_that_fails(self):
        """A token of unknown revocation state is validated normally."""
        self.config_fixture.config(group='revoke', sync_interval=0)
        # Another worker has revoked something.
        PROVIDERS.revoke_api.driver.revoke(
            revoke_model.RevokeEvent(audit_id='another')
        )
        core.REVOKE_REGION.invalidate()

        fail = mock.Mock(side_effect=RuntimeError('away'))
        self.useFixture(
            fixtures.MonkeyPatch(
                'keystone.revoke.table_copy.TableCopy.sync', fail
            )
        )
        with self.counted(bypass__error=1):
            answer = self.ask(self.subject)
        # Each may take until a timeout: for the records, and normally.
        self.assertEqual(2, fail.call_count)
        self.assertSame(self.ask_past(self.subject), answer)
        self.assertEqual(3, fail.call_count)
        self.assertNotIn('200', answer[0])
