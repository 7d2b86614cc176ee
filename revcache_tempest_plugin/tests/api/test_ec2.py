# SPDX-License-Identifier: Apache-2.0

"""EC2 credentials that are deleted, changed or whose user is disabled."""

from keystoneclient.contrib.ec2 import utils as ec2_utils
from oslo_serialization import jsonutils
from tempest.lib import decorators
from tempest.lib import exceptions

from revcache_tempest_plugin.tests.api import base


class Ec2CredentialsTest(base.PromiseTestCase):
    promise = 'ec2_credentials'

    def setUp(self):
        super().setUp()
        self.place = self.project()
        self.person = self.member(self.place)
        self.key = self.users.create_user_ec2_credential(
            self.person['user_id'], tenant_id=self.place
        )['credential']

    def gives_token(self, secret=None):
        """Whether a request that is signed with a secret gets a token."""
        request = {
            'access': self.key['access'],
            'host': 'cloud.example',
            'verb': 'GET',
            'path': '/',
            'params': {
                'AWSAccessKeyId': self.key['access'],
                'SignatureMethod': 'HmacSHA256',
                'SignatureVersion': '2',
            },
        }
        signer = ec2_utils.Ec2Signer(secret or self.key['secret'])
        request['signature'] = signer.generate(request)
        try:
            self.identity.post(
                'ec2tokens', jsonutils.dumps({'credentials': request})
            )
        except (exceptions.NotFound, exceptions.Unauthorized):
            return False
        return True

    def assert_gives_token(self, **secret):
        if not self.gives_token(**secret):
            self.broken('a signed request got no token')

    def assert_gives_none(self, cause):
        self.assert_settled((f'{cause} got a token', self.gives_token))

    @decorators.idempotent_id('c61d8f05-2b9e-4a74-8e0c-97d3a5f1b240')
    def test_deleted(self):
        self.assert_gives_token()
        self.users.delete_user_ec2_credential(
            self.person['user_id'], self.key['access']
        )
        self.assert_gives_none('a deleted credential')

    @decorators.idempotent_id('5f92b7e3-c14a-4d08-b6f5-8a0e3c7d6192')
    def test_new_secret(self):
        self.assert_gives_token()
        client = self.os_admin.credentials_client
        (row,) = client.list_credentials(user_id=self.person['user_id'])[
            'credentials'
        ]
        blob = {**jsonutils.loads(row['blob']), 'secret': 'another secret'}
        client.update_credential(row['id'], blob=jsonutils.dumps(blob))
        self.assert_gives_none('a signature with the old secret')
        self.assert_gives_token(secret=blob['secret'])

    @decorators.idempotent_id('82a4e6d1-f03b-4c59-a7e8-d5b1c092f763')
    def test_disabled_user(self):
        self.assert_gives_token()
        self.users.update_user(self.person['user_id'], enabled=False)
        self.assert_gives_none("a disabled user's credential")
        self.users.update_user(self.person['user_id'], enabled=True)
        self.assert_gives_token()

    @decorators.idempotent_id('06f7c3b9-e8d2-41a5-9b04-7e1fa2d6c85e')
    def test_disabled_project(self):
        self.assert_gives_token()
        self.projects.update_project(self.place, enabled=False)
        self.assert_gives_none("a disabled project's credential")
        self.projects.update_project(self.place, enabled=True)
        self.assert_gives_token()
