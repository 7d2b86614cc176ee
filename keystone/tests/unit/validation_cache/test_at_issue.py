# SPDX-License-Identifier: Apache-2.0

import http.client
import json
import os
from unittest import mock

import fixtures

from keystone.common import jwt_utils
from keystone.common import provider_api
import keystone.conf
from keystone.tests import unit
from keystone.tests.unit import ksfixtures
from keystone.tests.unit.ksfixtures import shared_cache
from keystone.tests.unit.validation_cache import base
from keystone.token.providers import jws

CONF = keystone.conf.CONF
PROVIDERS = provider_api.ProviderAPIs


class RecordsAtIssueTests(base.ValidationCacheTestCase):
    """The first validation of a token finds what its issue has kept."""

    cache_on_issue = True

    def setUp(self):
        super().setUp()
        self.credential = self._new_credential()
        # The regions have their ids.
        self.issue(project_id=self.project_id)

    def _new_credential(self):
        ref = unit.new_application_credential_ref(roles=[{'id': self.role_id}])
        del ref['id']
        body = self.post(
            f'/users/{self.user_id}/application_credentials',
            body={'application_credential': ref},
        )
        return body.result['application_credential']

    def issue(self, query='', **asked):
        """Issue a token, for a password unless it is for something else.

        :returns: the token, and the body of the answer
        """
        if not asked.keys() & {'token', 'app_cred_id'}:
            asked.update(user_id=self.user_id, password=self.user['password'])
        response = self.post(
            f'/auth/tokens{query}',
            noauth=True,
            body=self.build_authentication_request(**asked),
            expected_status=http.client.CREATED,
        )
        return response.headers['X-Subject-Token'], response.json

    def assertKept(self, **asked):
        token, issued = self.issue(**asked)
        with self.counted(hit=2):
            answer = self.ask(token)
        self.assertEqual(issued, json.loads(answer[2]))
        self.assertSame(self.ask_past(token), answer)
        return token

    def assertNotKept(self, token, status=http.client.OK):
        before = self.cache.counts.copy()
        answer = self.ask(token)
        found = self.cache.counts - before
        # The caller's record is there.
        self.assertEqual((1, 0), (found['hit'], found['shared_hit']))
        self.assertEqual(str(int(status)), answer[0].partition(' ')[0])
        self.assertSame(self.ask_past(token), answer)

    def test_scopes(self):
        self.assertKept()
        self.assertKept(project_id=self.project_id)
        self.assertKept(domain_id=self.domain_id)

    def test_token_for_a_token(self):
        self.assertKept(
            token=self.get_unscoped_token(), project_id=self.project_id
        )

    def test_token_that_is_known(self):
        token, _issued = self.issue()
        with self.counted(bypass__method=1, hit=1, made=1):
            self.issue(token=token, project_id=self.project_id)

    def test_known_token_that_was_revoked(self):
        token, _issued = self.issue()
        self.delete('/auth/tokens', headers={'X-Subject-Token': token})
        self.post(
            '/auth/tokens',
            noauth=True,
            body=self.build_authentication_request(
                token=token, project_id=self.project_id
            ),
            expected_status=http.client.NOT_FOUND,
        )

    def test_application_credential(self):
        self.assertKept(
            app_cred_id=self.credential['id'], secret=self.credential['secret']
        )

    def test_caller(self):
        token, _issued = self.issue(project_id=self.project_id)
        with self.counted(hit=2):
            self.ask(caller=token)

    def test_deletion(self):
        token, _issued = self.issue(project_id=self.project_id)
        with self.counted(bypass__method=1, hit=2):
            self.ask(token, method='DELETE')

    def test_other_process(self):
        token, _issued = self.issue(project_id=self.project_id)
        shared_cache.forget_in_process()
        with self.counted(shared_hit=2):
            answer = self.ask(token)
        self.assertSame(self.ask_past(token), answer)

    def test_answer_without_catalog(self):
        token, _issued = self.issue(project_id=self.project_id)
        with self.counted(hit=2):
            answer = self.ask(token, QUERY_STRING='nocatalog')
        self.assertNotIn(b'"catalog"', answer[2])
        self.assertSame(self.ask_past(token, QUERY_STRING='nocatalog'), answer)

    def test_issued_without_catalog(self):
        self.assertNotKept(self.issue('?nocatalog')[0])

    def test_switched_off(self):
        self.config_fixture.config(group='token', cache_on_issue=False)
        self.assertNotKept(self.issue(project_id=self.project_id)[0])

    def test_system_scope(self):
        token, _issued = self.issue(system=True)
        shared_cache.forget_in_process()
        with self.counted(shared_hit=2):
            answer = self.ask(token)
        self.assertSame(self.ask_past(token), answer)

    def test_trust(self):
        trustee = unit.create_user(PROVIDERS.identity_api, self.domain_id)
        _trust, token = self.issue_for_trust(trustee)
        shared_cache.forget_in_process()
        with self.counted(shared_hit=2):
            answer = self.ask(token)
        self.assertSame(self.ask_past(token), answer)

    def at_the_end_of(self, name, then):
        """Have something happen after the token was made, before it is kept.

        :param name: of a method of the token provider's manager
        """
        manager = PROVIDERS.token_provider_api
        method = getattr(manager, name)

        def wrapper(*args, **kwargs):
            result = method(*args, **kwargs)
            with mock.patch.object(manager, name, method):
                then()
            return result

        return mock.patch.object(manager, name, wrapper)

    def test_changed_meanwhile(self):
        def rename():
            PROVIDERS.resource_api.update_project(
                self.project_id, {'name': 'another name'}
            )

        with self.at_the_end_of('issue_token', rename):
            token, _issued = self.issue(project_id=self.project_id)
        answer = self.ask(token)
        self.assertIn(b'another name', answer[2])
        self.assertSame(self.ask_past(token), answer)

    def test_revoked_meanwhile(self):
        def revoke():
            PROVIDERS.revoke_api.revoke_by_user(self.user_id)

        caller = self.another_users_token()
        with self.at_the_end_of('issue_token', revoke):
            token, _issued = self.issue(project_id=self.project_id)
        answer = self.ask(token, caller)
        self.assertEqual('404 NOT FOUND', answer[0])
        self.assertSame(self.ask_past(token, caller), answer)

    def test_disabled_meanwhile(self):
        def disable():
            PROVIDERS.identity_api.update_user(
                self.user_id, {'enabled': False}
            )

        caller = self.another_users_token()
        with self.at_the_end_of('issue_token', disable):
            token, _issued = self.issue(project_id=self.project_id)
        answer = self.ask(token, caller)
        self.assertEqual('404 NOT FOUND', answer[0])

    def another_users_token(self):
        user = unit.create_user(
            PROVIDERS.identity_api, domain_id=self.domain_id
        )
        PROVIDERS.assignment_api.create_grant(
            self.role_id, user_id=user['id'], project_id=self.project_id
        )
        return self.get_requested_token(
            self.build_authentication_request(
                user_id=user['id'],
                password=user['password'],
                project_id=self.project_id,
            )
        )

    def test_public_key_that_is_not_distributed_yet(self):
        self.config_fixture.config(group='token', provider='jws')
        self.useFixture(ksfixtures.JWSKeyRepository(self.config_fixture))
        self.useFixture(
            fixtures.MockPatchObject(
                PROVIDERS.token_provider_api, 'driver', jws.Provider()
            )
        )
        self.token = self.another_users_token()
        private, public = (
            CONF.jwt_tokens.jws_private_key_repository,
            CONF.jwt_tokens.jws_public_key_repository,
        )
        jwt_utils.create_jws_keypair(
            f'{private}/private.pem', f'{private}/new.pem'
        )
        token, _issued = self.issue(project_id=self.project_id)
        answer = self.ask(token)
        self.assertEqual('404 NOT FOUND', answer[0])
        os.rename(f'{private}/new.pem', f'{public}/new.pem')
        answer = self.ask(token)
        self.assertEqual('200 OK', answer[0])
        self.assertSame(self.ask_past(token), answer)

    def test_error_reaches_nobody(self):
        with mock.patch.object(
            self.cache, '_keep', side_effect=OSError('disk')
        ):
            token, _issued = self.issue(project_id=self.project_id)
        self.assertNotKept(token)
