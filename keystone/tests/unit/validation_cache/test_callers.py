# SPDX-License-Identifier: Apache-2.0

import http.client

import fixtures
from testtools import matchers

from keystone.common.cache import stores
from keystone.common import provider_api
from keystone.tests import unit
from keystone.tests.unit.ksfixtures import shared_cache
from keystone.tests.unit.validation_cache import base
from keystone.token.validation_cache import cache

PROVIDERS = provider_api.ProviderAPIs

_ANY = '/v3/auth/projects'


class KnownCallersTests(base.ValidationCacheTestCase):
    """Requests of callers whose token was validated before."""

    def setUp(self):
        super().setUp()
        self.cache.clear()
        shared_cache.forget_records()
        self.validated = []
        validate = PROVIDERS.token_provider_api.validate_token

        def note(token, *args, **kwargs):
            self.validated.append(token)
            return validate(token, *args, **kwargs)

        self.useFixture(
            fixtures.MockPatchObject(
                PROVIDERS.token_provider_api, 'validate_token', note
            )
        )

    def call(self, caller=None, **more):
        """Send a request that is not for the validation cache.

        :returns: the status line
        """
        environ = self.environ(
            caller=caller, PATH_INFO=_ANY, HTTP_X_SUBJECT_TOKEN=None, **more
        )
        return self.send(self.middleware, environ)[0]

    def count(self, name):
        return self.cache.counts[name]

    def know(self, caller=None):
        """Have a caller known."""
        self.assertIn('200', self.call(caller))
        before = self.count('hit')
        self.assertIn('200', self.call(caller))
        self.assertEqual(before + 1, self.count('hit'))
        self.validated.clear()

    def test_credentials_count_towards_the_size(self):
        callers = [self.get_scoped_token() for _ in range(20)]
        for caller in callers:
            self.ask(caller)
        size = self.cache.size
        for caller in callers:
            self.assertHit(caller=caller)
        self.assertLess(size + 20 * 10_000, self.cache.size)

        self.cache.clear()
        self.config_fixture.config(group='token', validation_cache_size=90_000)
        for caller in callers:
            self.ask(caller, caller)
            self.ask(caller, caller)
        entries = len(self.cache._records)
        self.assertThat(entries, matchers.LessThan(10))

    def test_token_is_not_validated_again(self):
        self.know()

        self.assertIn('200', self.call())

        self.assertEqual([], self.validated)

    def test_answers_are_the_same(self):
        environ = self.environ(PATH_INFO=_ANY, HTTP_X_SUBJECT_TOKEN=None)
        first = self.send(self.middleware, environ.copy())
        second = self.send(self.middleware, environ.copy())

        self.assertEqual(first[2], second[2])

    def test_revoked(self):
        caller = self.get_scoped_token()
        self.know(caller)

        self.delete('/auth/tokens', headers={'X-Subject-Token': caller})

        self.assertIn('401', self.call(caller))
        self.assertIn('401', self.call(caller))

    def test_revoked_elsewhere(self):
        caller = self.get_scoped_token()
        self.know(caller)
        token = PROVIDERS.token_provider_api.validate_token(caller)

        PROVIDERS.revoke_api.revoke_by_audit_id(token.audit_id)

        self.assertIn('401', self.call(caller))

    def test_disabled_user(self):
        self.know()

        PROVIDERS.identity_api.update_user(self.user_id, {'enabled': False})

        self.assertIn('401', self.call())

    def test_disabled_project(self):
        self.know()

        PROVIDERS.resource_api.update_project(
            self.project_id, {'enabled': False}
        )

        self.assertNotIn('200', self.call())

    def test_role_that_is_gone(self):
        caller = self.get_scoped_token()
        path = f'/v3/projects/{self.project_id}/users/{self.user_id}/roles'
        environ = self.environ(
            caller=caller, PATH_INFO=path, HTTP_X_SUBJECT_TOKEN=None
        )
        for _ in range(2):
            self.assertIn('200', self.send(self.middleware, environ.copy())[0])
        other = unit.new_role_ref()
        PROVIDERS.role_api.create_role(other['id'], other)
        PROVIDERS.assignment_api.add_role_to_user_and_project(
            self.user_id, self.project_id, other['id']
        )

        PROVIDERS.assignment_api.delete_grant(
            self.role_id, user_id=self.user_id, project_id=self.project_id
        )

        # Revoked, or valid without the role: in no case what it was.
        status = self.send(self.middleware, environ.copy())[0]
        self.assertNotIn('200', status)

    def test_renamed_project(self):
        self.know()
        PROVIDERS.resource_api.update_project(self.project_id, {'name': 'new'})

        before = self.count('miss: changed')

        self.assertIn('200', self.call())

        self.assertEqual(before + 1, self.count('miss: changed'))

    def test_expiry(self):
        caller = self.get_scoped_token()
        self.know(caller)

        self.at(hours=2)

        self.assertIn('401', self.call(caller))

    def test_own_objects(self):
        self.know()
        (record,) = self.cache._records.values()
        found = cache.rendered(record, self.token)
        found.model.user['name'] = 'another'
        found['token']['roles'].clear()

        again = cache.rendered(record, self.token)

        self.assertNotEqual('another', again.model.user['name'])
        self.assertNotEqual([], again['token']['roles'])
        self.assertEqual(self.token, again.model.id)

    def test_catalog_is_made_when_it_is_read(self):
        self.know()
        (record,) = self.cache._records.values()

        found = cache.rendered(record, self.token)

        self.assertEqual(
            PROVIDERS.catalog_api.get_v3_catalog(
                self.user_id, self.project_id
            ),
            found['token']['catalog'],
        )

    def test_without_the_validation_cache(self):
        self.config_fixture.config(group='token', validation_cache_size=0)
        self.validated.clear()

        self.call()
        self.call()

        self.assertEqual([self.token] * 2, self.validated)

    def test_invalid_token(self):
        self.assertIn(str(int(http.client.UNAUTHORIZED)), self.call('none'))
        self.assertEqual(0, len(self.cache._records))


class RejectedTests(base.ValidationCacheTestCase):
    """Requests that anybody can send cost one read of the cache."""

    def setUp(self):
        super().setUp()
        self.subject = self.get_scoped_token()
        self.commands = []
        for name in ('get_many', 'add', 'replace', 'set', 'delete'):
            self.note(name)

    def note(self, name):
        command = getattr(stores.ProcessStore, name)

        def noted(store, *args):
            self.commands.append(name)
            return command(store, *args)

        self.useFixture(
            fixtures.MockPatchObject(stores.ProcessStore, name, noted)
        )

    def assert_rejected(self, subject, caller, **more):
        for _ in range(2):
            del self.commands[:]
            status = self.ask(subject, caller, **more)[0]
            self.assertIn(str(int(http.client.UNAUTHORIZED)), status)
            self.assertEqual(['get_many'], self.commands)

    def test_no_tokens(self):
        self.assert_rejected('none', 'none either')

    def test_subject_that_is_valid(self):
        with self.counted(miss__unknown=4):
            self.assert_rejected(self.subject, 'none')

    def test_any_request(self):
        self.assert_rejected(
            None, 'none', PATH_INFO=_ANY, HTTP_X_SUBJECT_TOKEN=None
        )

    def test_subject_that_is_none(self):
        """The caller's record is valid, and no lease is taken."""
        self.ask('none')
        del self.commands[:]

        self.assertIn('404', self.ask('none')[0])

        self.assertEqual(['get_many'], self.commands)
