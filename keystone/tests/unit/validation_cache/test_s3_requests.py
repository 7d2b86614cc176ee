# SPDX-License-Identifier: Apache-2.0

import base64
from concurrent import futures
import hashlib
import hmac
import http.client
import io
import json
import secrets

from oslo_utils import timeutils

from keystone.common import after_fork
from keystone.common import provider_api
from keystone.common import utils
from keystone.tests import unit
from keystone.tests.unit.validation_cache import record_base

PROVIDERS = provider_api.ProviderAPIs

_TEXT = b'what a client has signed'
_PATH = '/v3/s3tokens'
_DIFFERENT = ('audit_ids', 'expires_at', 'issued_at')


class S3RequestTestCase(record_base.RecordTestCase):
    """Signed requests of an owner, which the caller has verified."""

    def setUp(self):
        super().setUp()
        self.owner_project = unit.new_project_ref(domain_id=self.domain_id)
        PROVIDERS.resource_api.create_project(
            self.owner_project['id'], self.owner_project
        )
        self.grant = {
            'user_id': self.owner['id'],
            'project_id': self.owner_project['id'],
        }
        PROVIDERS.assignment_api.create_grant(self.role_id, **self.grant)
        self.access, self.secret = self.create_credential()
        self.inquire()
        self.inquire()

    def create_credential(self, **more):
        """Create a credential of the owner: access key and secret."""
        blob, credential = unit.new_ec2_credential(
            self.owner['id'], self.owner_project['id']
        )
        PROVIDERS.credential_api.create_credential(
            credential['id'], {**credential, 'blob': {**blob, **more}}
        )
        return blob['access'], blob['secret']

    def signed(self, access=None, secret=None):
        """The credentials of a request, with the secret or another one."""
        signature = hmac.new(
            (secret or self.secret).encode(), _TEXT, hashlib.sha1
        )
        return {
            'access': access or self.access,
            'signature': base64.b64encode(signature.digest()).decode(),
            'token': base64.b64encode(_TEXT).decode(),
        }

    def arguments(self, body=None, **more):
        if body is None:
            body = json.dumps({'credentials': self.signed()}).encode()
        return {
            'method': 'POST',
            'PATH_INFO': _PATH,
            'HTTP_X_SUBJECT_TOKEN': None,
            'CONTENT_TYPE': 'application/json',
            'CONTENT_LENGTH': str(len(body)),
            'wsgi.input': io.BytesIO(body),
            **more,
        }

    def assertSame(self, one, other):
        super().assertSame(_plain(one), _plain(other))

    def assertVerified(self):
        """A request is answered from records; the content of the token."""
        return self.assertRecorded()['token']


class S3RequestTests(S3RequestTestCase):
    """What a record is used for."""

    def test_the_values_of_a_new_token(self):
        before = timeutils.utcnow().replace(microsecond=0)
        one, other = self.assertVerified(), self.assertVerified()
        after = timeutils.utcnow()

        issued_at, expires_at = (
            timeutils.normalize_time(timeutils.parse_isotime(one[name]))
            for name in ('issued_at', 'expires_at')
        )
        self.assertLessEqual(before, issued_at)
        self.assertLessEqual(issued_at, after)
        lifetime = (expires_at - issued_at).total_seconds()
        expiration = self.config_fixture.conf.token.expiration
        self.assertLessEqual(expiration, lifetime)
        self.assertLess(lifetime, expiration + 60)
        (audit_id,) = one['audit_ids']
        self.assertNotEqual([audit_id], other['audit_ids'])
        self.assertEqual(self.owner['id'], one['user']['id'])
        self.assertEqual([self.role_id], [r['id'] for r in one['roles']])
        self.assertIn('catalog', one)

    def test_another_process(self):
        self.assertSharedHit()

    def test_one_round_trip(self):
        self.assertOneRoundTrip()

    def test_wrong_signature(self):
        body = {'credentials': self.signed(secret='wrong')}
        self.assertNormal(
            http.client.UNAUTHORIZED, body=json.dumps(body).encode()
        )
        body['credentials']['token'] = 'no base64'
        self.assertNormal(
            http.client.UNAUTHORIZED, body=json.dumps(body).encode()
        )

    def test_key_of_another_user(self):
        body = {'credentials': self.signed(*self.create_credential())}
        body['credentials']['access'] = self.access
        self.assertNormal(
            http.client.UNAUTHORIZED, body=json.dumps(body).encode()
        )

    def test_deleted_key(self):
        PROVIDERS.credential_api.delete_credential(
            utils.hash_access_key(self.access)
        )
        self.assertNormal(http.client.NOT_FOUND)

    def change_secret(self):
        """Change the secret of the key; the new one."""
        secret = secrets.token_hex(16)
        PROVIDERS.credential_api.update_credential(
            utils.hash_access_key(self.access),
            {'blob': {'access': self.access, 'secret': secret}, 'type': 'ec2'},
        )
        return secret

    def test_changed_secret(self):
        secret = self.change_secret()
        self.assertNormal(http.client.UNAUTHORIZED)
        self.secret = secret
        self.assertNormal()
        self.assertVerified()

    def test_secret_changed_on_another_thread(self):
        old = self.secret

        def change():
            self.secret = self.change_secret()
            self.assertNormal()
            self.assertVerified()

        with futures.ThreadPoolExecutor(1) as pool:
            pool.submit(change).result()

        self.assertVerified()
        self.secret = old
        self.assertNormal(http.client.UNAUTHORIZED)

    def test_roles(self):
        role = unit.new_role_ref()
        PROVIDERS.role_api.create_role(role['id'], role)
        PROVIDERS.assignment_api.create_grant(role['id'], **self.grant)
        answer = self.assertNormal()
        self.assertEqual(2, len(json.loads(answer[2])['token']['roles']))
        PROVIDERS.assignment_api.delete_grant(role['id'], **self.grant)
        self.assertNormal()
        self.assertVerified()
        PROVIDERS.assignment_api.delete_grant(self.role_id, **self.grant)
        self.assertNormal(http.client.UNAUTHORIZED)

    def test_disabled_user(self):
        PROVIDERS.identity_api.update_user(
            self.owner['id'], {'enabled': False}
        )
        self.assertNormal(http.client.UNAUTHORIZED)

    def test_disabled_project(self):
        PROVIDERS.resource_api.update_project(
            self.owner_project['id'], {'enabled': False}
        )
        self.assertNormal(http.client.UNAUTHORIZED)

    def test_other_methods(self):
        methods = [*self.config_fixture.conf.auth.methods, 'saml2']
        self.config_fixture.config(group='auth', methods=methods)
        # The process is restarted with them.
        after_fork.run()
        self.assertNormal()

    def test_caller_without_the_role(self):
        PROVIDERS.assignment_api.delete_grant(
            self.role_id, user_id=self.user_id, project_id=self.project_id
        )
        self.assertNormal(http.client.UNAUTHORIZED)

    def test_name_of_a_record_as_a_token(self):
        answer = self.ask(f's3: {self.access}')
        self.assertEqual('404', answer[0].partition(' ')[0])

    def test_delegated(self):
        credential = {
            **unit.new_application_credential_ref(
                roles=[{'id': self.role_id}], secret=secrets.token_hex(16)
            ),
            **self.grant,
        }
        PROVIDERS.application_credential_api.create_application_credential(
            credential
        )
        self.access, self.secret = self.create_credential(
            app_cred_id=credential['id']
        )
        for _ in range(2):
            before = self.cache.counts['not_kept: delegated']
            self.assertNormal()
            self.assertLess(before, self.cache.counts['not_kept: delegated'])


class PolicyTests(record_base.PolicyMixin, S3RequestTestCase):
    """Who is allowed to have signatures verified."""

    action = 'identity:s3tokens_validate'

    def test_denied(self):
        self.assertVerified()
        self.set_rule('!', 5)
        self.assertNormal(http.client.FORBIDDEN)

    def test_rule_about_what_is_not_recorded(self):
        self.set_rule("not 'x':%(request_body.more)s", 5)
        self.assertVerified()
        body = {'credentials': self.signed(), 'more': 'x'}
        self.assertNormal(
            http.client.FORBIDDEN, body=json.dumps(body).encode()
        )

    def test_rule_about_the_request(self):
        keys = [(self.access, self.secret), self.create_credential()]
        self.set_rule(
            f"'{self.access}':%(request_body.credentials.access)s", 5
        )
        for _ in range(2):
            self.access, self.secret = keys[0]
            self.assertVerified()
            self.access, self.secret = keys[1]
            self.assertNormal(http.client.FORBIDDEN)


def _plain(answer):
    """A response without the values that differ between responses."""
    status, headers, body = answer
    body = json.loads(body)
    for name in _DIFFERENT:
        body.get('token', {}).pop(name, None)
    return status, headers, json.dumps(body)
