# SPDX-License-Identifier: Apache-2.0

import http.client

import fixtures

from keystone.api._shared import reading_ahead
from keystone.tests.unit import test_v3


class NamesTests(test_v3.RestfulTestCase):
    """What a login is about."""

    def setUp(self):
        super().setUp()
        self.names = []
        reading = reading_ahead.ReadAhead.reading

        def note(ahead, name):
            self.names.append(name)
            return reading(ahead, name)

        self.useFixture(
            fixtures.MockPatchObject(reading_ahead.ReadAhead, 'reading', note)
        )

    def log_in(self, expected_status=http.client.CREATED, **asked):
        """What a login is about."""
        if not asked.keys() & {'token', 'app_cred_id', 'username'}:
            asked.setdefault('user_id', self.user_id)
        if asked.keys() & {'user_id', 'username'}:
            asked.setdefault('password', self.user['password'])
        body = self.build_authentication_request(**asked)
        self.v3_create_token(body, expected_status=expected_status)
        return self.names[-1]

    def test_alike(self):
        self.assertEqual(
            self.log_in(),
            self.log_in(
                password='no', expected_status=http.client.UNAUTHORIZED
            ),
        )
        self.assertEqual(
            self.log_in(token=self.get_scoped_token()),
            self.log_in(token=self.get_unscoped_token()),
        )

    def test_different(self):
        names = {
            self.log_in(),
            self.log_in(project_id=self.project_id),
            self.log_in(unscoped=True),
            self.log_in(
                username=self.user['name'], user_domain_id=self.domain_id
            ),
            self.log_in(token=self.get_unscoped_token()),
            self.log_in(
                user_id='other', expected_status=http.client.UNAUTHORIZED
            ),
        }
        self.assertEqual(6, len(names))

    def test_nothing(self):
        for body in ({}, {'auth': None}):
            answer = self.v3_create_token(
                body, expected_status=http.client.BAD_REQUEST
            )
            self.assertIn('find auth in', answer.result['error']['message'])

    def test_malformed(self):
        for auth in (
            1, [], {'identity': []}, {'identity': {'methods': ['password']}},
            {'identity': {'methods': ['password'], 'password': ['user']}},
            {'identity': {'password': {'user': {'id': self.user_id}}}},
            {'scope': {}},
        ):  # fmt: skip
            self.v3_create_token(
                {'auth': auth}, expected_status=http.client.BAD_REQUEST
            )

    def test_unused_method_of_wrong_form(self):
        body = self.build_authentication_request(
            user_id=self.user_id, password=self.user['password']
        )
        for unused in (
            'user', ['user'], 1, None,
            {'user': 'id'}, {'user': ['id']}, {'user': 1}, {'user': None},
        ):  # fmt: skip
            body['auth']['identity']['application_credential'] = unused
            self.v3_create_token(body)

    def test_no_secrets(self):
        credential = self.post(
            f'/users/{self.user_id}/application_credentials',
            body={
                'application_credential': {
                    'name': 'one',
                    'secret': 'confidential',
                    'roles': [{'id': self.role_id}],
                }
            },
        ).result['application_credential']
        token = self.get_scoped_token()
        self.log_in(token=token)
        self.log_in(app_cred_id=credential['id'], secret='confidential')

        for name in self.names:
            for secret in (token, self.user['password'], 'confidential'):
                self.assertNotIn(secret, name)
