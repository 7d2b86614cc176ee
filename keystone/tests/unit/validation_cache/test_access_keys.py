# SPDX-License-Identifier: Apache-2.0

from concurrent import futures
import http.client
import secrets

from oslo_serialization import jsonutils

from keystone.common import provider_api
from keystone.common import utils
from keystone.tests import unit
from keystone.tests.unit.validation_cache import record_base

PROVIDERS = provider_api.ProviderAPIs


class AccessKeyTestCase(record_base.RecordTestCase):
    """Requests for an access key of an owner."""

    def setUp(self):
        super().setUp()
        self.blob, credential = unit.new_ec2_credential(
            self.owner['id'], self.project_id
        )
        self.key_id = credential['id']
        PROVIDERS.credential_api.create_credential(self.key_id, credential)
        self.use(self.blob['access'])
        self.inquire()
        self.inquire()

    def use(self, access, user_id=None):
        """Have the next requests ask for this key."""
        user_id = user_id or self.owner['id']
        self.path = f'/v3/users/{user_id}/credentials/OS-EC2/{access}'

    def arguments(self, **more):
        return {'PATH_INFO': self.path, 'HTTP_X_SUBJECT_TOKEN': None, **more}

    def update(self, **blob):
        """Change the blob of the credential."""
        PROVIDERS.credential_api.update_credential(
            self.key_id,
            {'blob': jsonutils.dumps({**self.blob, **blob}), 'type': 'ec2'},
        )


class AccessKeyTests(AccessKeyTestCase):
    """What a record is used for."""

    def assertLinked(self, **more):
        """A request is answered from records: the link to itself."""
        return self.assertRecorded(**more)['credential']['links']['self']

    def test_all_of_it(self):
        found = self.assertRecorded()['credential']
        self.assertEqual(self.blob['secret'], found['secret'])
        self.assertEqual(self.blob['access'], found['access'])
        self.assertEqual(self.project_id, found['tenant_id'])
        self.assertTrue(found['links']['self'].endswith(self.path))

    def test_another_process(self):
        self.assertSharedHit()

    def test_one_round_trip(self):
        self.assertOneRoundTrip()

    def test_no_record_has_the_secret(self):
        found = [
            (record.packed(), repr(record.caller and vars(record.caller)))
            for record in self.cache._records.values()
        ]
        self.assertLess(1, len(found))
        self.assertNotIn(self.blob['secret'], str(found))

    def test_changed_secret(self):
        for secret in (secrets.token_hex(16), 'ä"\\\1', None):
            self.update(secret=secret)
            self.assertNormal()
            found = self.assertRecorded()['credential']
            self.assertEqual(secret, found['secret'])

    def test_secret_changed_on_another_thread(self):
        def change():
            self.update(secret='changed')
            self.assertNormal()

        with futures.ThreadPoolExecutor(1) as pool:
            pool.submit(change).result()

        found = self.assertRecorded()['credential']
        self.assertEqual('changed', found['secret'])

    def test_deleted_key(self):
        PROVIDERS.credential_api.delete_credential(self.key_id)
        self.assertNormal(http.client.NOT_FOUND)

    def test_deleted_user(self):
        PROVIDERS.identity_api.delete_user(self.owner['id'])
        self.assertNormal(http.client.NOT_FOUND)

    def test_user_of_the_path(self):
        # Stock tells the key for the path of any user who exists.
        self.use(self.blob['access'], self.user_id)
        self.assertNormal()
        self.assertRecorded()
        self.use(self.blob['access'], 'nobody')
        self.assertNormal(http.client.NOT_FOUND)

    def test_link(self):
        link = self.assertLinked()
        self.assertNormal(HTTP_HOST='example:5000')
        other = self.assertLinked(HTTP_HOST='example:5000')
        self.assertNotEqual(link, other)
        https = {'HTTP_X_FORWARDED_PROTO': 'https'}
        self.assertNormal(**https)
        found = self.assertLinked(**https)
        self.assertEqual(link.replace('http:', 'https:'), found)
        self.config_fixture.config(public_endpoint='https://public')
        self.assertNormal()
        found = self.assertLinked()
        self.assertEqual(f'https://public{self.path}', found)

    def test_headers_that_make_no_difference(self):
        self.assertRecorded(HTTP_ACCEPT='text/plain')
        self.assertRecorded(CONTENT_TYPE='text/plain')

    def test_delegated(self):
        credential = {
            **unit.new_application_credential_ref(
                roles=[{'id': self.role_id}], secret=secrets.token_hex(16)
            ),
            'user_id': self.user_id,
            'project_id': self.project_id,
            'unrestricted': True,
        }
        PROVIDERS.application_credential_api.create_application_credential(
            credential
        )
        auth = self.build_authentication_request(
            app_cred_id=credential['id'], secret=credential['secret']
        )
        token = self.get_requested_token(auth)
        expected = self.inquire_past(HTTP_X_AUTH_TOKEN=token)
        for _ in range(2):
            asked = self.asked
            found = self.inquire(HTTP_X_AUTH_TOKEN=token)
            self.assertEqual(asked + 1, self.asked)
            self.assertSame(expected, found)
        self.assertRecorded()

    def test_caller_without_the_role(self):
        PROVIDERS.assignment_api.delete_grant(
            self.role_id, user_id=self.user_id, project_id=self.project_id
        )
        self.assertNormal(http.client.UNAUTHORIZED)

    def test_name_of_a_record_as_a_token(self):
        for name in ('access key: x', self.path):
            answer = self.ask(name)
            self.assertEqual('404', answer[0].partition(' ')[0])


class PolicyTests(record_base.PolicyMixin, AccessKeyTestCase):
    """Who is allowed to read an access key."""

    action = 'identity:ec2_get_credential'

    def test_denied(self):
        self.assertRecorded()
        self.set_rule('!', 5)
        self.assertNormal(http.client.FORBIDDEN)

    def test_rules_about_the_request_and_the_credential(self):
        hashed = utils.hash_access_key(self.blob['access'])
        for later, rule in enumerate(
            (
                f"'{self.owner['id']}':%(user_id)s",
                f"'{self.blob['access']}':%(credential_id)s",
                f"'{self.owner['id']}':%(target.credential.user_id)s",
                f"'{hashed}':%(target.credential.id)s",
                "'ec2':%(target.credential.type)s",
            ),
            1,
        ):
            self.set_rule(rule, 5 * later)
            self.assertRecorded()
            self.assertRecorded()
            self.set_rule(f'not {rule}', 5 * later + 2)
            self.assertNormal(http.client.FORBIDDEN)


class BypassTests(AccessKeyTestCase):
    """Requests that are processed normally, whatever the cache holds."""

    def test_surroundings(self):
        self.assertBypassed('query', QUERY_STRING='a=b')
        self.assertBypassed('header', HTTP_X_SOMETHING='new')
        self.assertBypassed('subject', HTTP_X_SUBJECT_TOKEN=self.token)
        self.assertBypassed(
            'body', http.client.BAD_REQUEST, CONTENT_LENGTH='1'
        )
        self.assertBypassed('method', method='HEAD')
        self.assertBypassed(
            'caller', http.client.UNAUTHORIZED, HTTP_X_AUTH_TOKEN=None
        )

    def test_other_paths(self):
        for path in (
            f'{self.path}/',
            f'{self.path}/x',
            self.path.rpartition('/')[0],
            self.path.replace('OS-EC2', 'OS-EC3'),
        ):
            with self.counted(hit=1):  # that of the caller
                answer = self.inquire(PATH_INFO=path)
            self.assertSame(self.inquire_past(PATH_INFO=path), answer)
