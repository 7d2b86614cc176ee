# SPDX-License-Identifier: Apache-2.0

import base64
import hashlib
import hmac
import http.client

from keystone.common import provider_api
from keystone.credential.providers import fernet
from keystone.tests import unit
from keystone.tests.unit import ksfixtures
from keystone.tests.unit.write_order import base

PROVIDERS = provider_api.ProviderAPIs

_TEXT = b'what a client has signed'


class S3TestCase(base.WriteOrderTestCase):
    """Someone's S3 requests, which a gateway has Keystone check.

    The one who has signed them, ``owner``, is not the one who asks.
    """

    def setUp(self):
        super().setUp()
        self.useFixture(
            ksfixtures.KeyRepository(
                self.config_fixture, 'credential', fernet.MAX_ACTIVE_KEYS
            )
        )
        self.owner_domain = unit.new_domain_ref()
        PROVIDERS.resource_api.create_domain(
            self.owner_domain['id'], self.owner_domain
        )
        self.owner = unit.create_user(
            PROVIDERS.identity_api, self.owner_domain['id']
        )
        self.owner_project = unit.new_project_ref(
            domain_id=self.owner_domain['id']
        )
        PROVIDERS.resource_api.create_project(
            self.owner_project['id'], self.owner_project
        )
        PROVIDERS.assignment_api.create_grant(
            self.role_id,
            user_id=self.owner['id'],
            project_id=self.owner_project['id'],
        )
        self.blob, self.credential = self.create_credential()
        self.caller = self.get_scoped_token()

    def create_credential(self):
        """Give the owner one more credential; what it holds, and its row."""
        blob, credential = unit.new_ec2_credential(
            self.owner['id'], self.owner_project['id']
        )
        PROVIDERS.credential_api.create_credential(
            credential['id'], dict(credential, blob=blob)
        )
        return blob, credential

    def ask(self, expected_status=http.client.OK, secret=None):
        """Have a worker check a request that the owner has signed."""
        signature = hmac.new(
            (secret or self.blob['secret']).encode(), _TEXT, hashlib.sha1
        )
        return self.elsewhere(
            self.post,
            '/s3tokens',
            body={
                'credentials': {
                    'access': self.blob['access'],
                    'signature': base64.b64encode(signature.digest()).decode(),
                    'token': base64.b64encode(_TEXT).decode(),
                }
            },
            token=self.caller,
            expected_status=expected_status,
        )

    def look_up(self):
        return PROVIDERS.credential_api.get_credential(self.credential['id'])

    def decryptions(self):
        """List that receives what is decrypted from now on."""
        found = []

        def note(decrypt, encrypted):
            found.append(encrypted)
            return decrypt(encrypted)

        # The manager remembers the driver's method.
        replaced = self.replaced(
            PROVIDERS.credential_provider_api, 'decrypt', note
        )
        replaced.__enter__()
        self.addCleanup(replaced.__exit__, None, None, None)
        return found
