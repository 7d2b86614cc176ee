# SPDX-License-Identifier: Apache-2.0

import http.client

import fixtures

from keystone.common.cache import stores
from keystone.common import provider_api
import keystone.exception
from keystone.tests.unit.credential import s3_base

PROVIDERS = provider_api.ProviderAPIs

NOT_FOUND = http.client.NOT_FOUND
UNAUTHORIZED = http.client.UNAUTHORIZED


class DroppedTests(s3_base.S3TestCase):
    """A credential is no good as soon as it has changed."""

    def setUp(self):
        super().setUp()
        self.api = PROVIDERS.credential_api
        self.ask()
        self.ask()

    def delete_it(self):
        self.api.delete_credential(self.credential['id'])

    def write_and_cache_late(self, write):
        self.api._get_credential.invalidate(self.api, self.credential['id'])
        self.read_across(
            self.api.driver, 'get_credential', self.look_up, write
        )

    def test_deleted(self):
        path = f'/credentials/{self.credential["id"]}'
        self.elsewhere(self.delete, path, token=self.caller)

        self.ask(NOT_FOUND)

    def test_deleted_and_reader_that_caches_late(self):
        self.write_and_cache_late(self.delete_it)

        self.ask(NOT_FOUND)

    def test_deleted_before_its_creator_is_done(self):
        def write_then_delete(write, credential_id, row):
            answer = write(credential_id, row)
            self.elsewhere(self.api.delete_credential, credential_id)
            return answer

        with self.replaced(
            self.api.driver, 'create_credential', write_then_delete
        ):
            self.blob, self.credential = self.create_credential()

        self.ask(NOT_FOUND)

    def change_secret(self):
        blob = dict(self.blob, secret='other')
        self.api.update_credential(
            self.credential['id'], {'type': 'ec2', 'blob': blob}
        )

    def test_other_secret(self):
        self.elsewhere(self.change_secret)

        self.ask(UNAUTHORIZED)
        self.ask(secret='other')

    def test_other_secret_and_reader_that_caches_late(self):
        self.write_and_cache_late(self.change_secret)

        self.ask(UNAUTHORIZED)
        self.ask(secret='other')

    def test_user_disabled(self):
        self.elsewhere(
            PROVIDERS.identity_api.update_user,
            self.owner['id'],
            {'enabled': False},
        )

        self.ask(UNAUTHORIZED)

    def delete_user(self):
        PROVIDERS.identity_api.delete_user(self.owner['id'])

    def test_user_deleted(self):
        self.elsewhere(self.delete_user)

        self.ask(NOT_FOUND)

    def test_user_deleted_and_reader_that_caches_late(self):
        self.write_and_cache_late(self.delete_user)

        self.assertRaises(
            keystone.exception.CredentialNotFound, self.elsewhere, self.look_up
        )

    def test_project_disabled(self):
        self.elsewhere(
            PROVIDERS.resource_api.update_project,
            self.owner_project['id'],
            {'enabled': False},
        )

        self.ask(UNAUTHORIZED)

    def test_project_deleted(self):
        self.elsewhere(
            PROVIDERS.resource_api.delete_project, self.owner_project['id']
        )

        self.ask(NOT_FOUND)

    def test_domain_disabled(self):
        self.elsewhere(
            PROVIDERS.resource_api.update_domain,
            self.owner_domain['id'],
            {'enabled': False},
        )

        self.ask(UNAUTHORIZED)

    def test_role_taken_away(self):
        self.elsewhere(
            PROVIDERS.assignment_api.delete_grant,
            self.role_id,
            user_id=self.owner['id'],
            project_id=self.owner_project['id'],
        )

        self.ask(UNAUTHORIZED)

    def test_another_credential_is_left_alone(self):
        _, other = self.create_credential()
        self.api.delete_credential(other['id'])

        self.ask()


class SharedCacheTests(s3_base.S3TestCase):
    """No secret reaches the cache that processes share."""

    def setUp(self):
        super().setUp()
        self.stored = []
        replace = stores.ProcessStore.replace

        def note(store, key, old, stored, seconds):
            self.stored.append(stored)
            return replace(store, key, old, stored, seconds)

        self.useFixture(
            fixtures.MockPatchObject(stores.ProcessStore, 'replace', note)
        )

    def assertStored(self, text):
        self.assertTrue(any(text.encode() in one for one in self.stored))

    def assertNotStored(self, text):
        self.assertFalse(any(text.encode() in one for one in self.stored))

    def test_what_is_stored(self):
        self.blob, self.credential = self.create_credential()
        for _ in range(2):
            self.ask()
            self.elsewhere(
                PROVIDERS.credential_api.list_credentials_for_user,
                self.owner['id'],
                'ec2',
            )
        PROVIDERS.credential_api.update_credential(
            self.credential['id'], {'type': 'ec2', 'blob': self.blob}
        )
        self.ask()
        row = PROVIDERS.credential_api.driver.get_credential(
            self.credential['id']
        )

        self.assertStored(row['encrypted_blob'])
        self.assertNotStored(self.blob['secret'])
