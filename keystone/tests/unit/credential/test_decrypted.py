# SPDX-License-Identifier: Apache-2.0

import os
import shutil

from keystone.cmd import cli
from keystone.common import fernet_utils
from keystone.common import provider_api
import keystone.conf
from keystone.credential import decrypted
from keystone.credential.providers import fernet
import keystone.exception
from keystone.tests.unit.credential import s3_base

CONF = keystone.conf.CONF
PROVIDERS = provider_api.ProviderAPIs


class DecryptedTests(s3_base.S3TestCase):
    """What was decrypted is kept within bounds, and in this process."""

    def setUp(self):
        super().setUp()
        self.api = PROVIDERS.credential_api
        self.now = 1000.0
        self.keep_most(1000)
        self.work = self.decryptions()

    def keep_most(self, number):
        self.kept = decrypted.Decrypted(lambda: self.now, number)
        self.api._decrypted = self.kept

    def new_id(self):
        return self.create_credential()[1]['id']

    def get(self, credential_id=None):
        """Look a credential up as a worker does; what it holds."""
        credential = self.elsewhere(
            self.api.get_credential, credential_id or self.credential['id']
        )
        return credential['blob']

    def test_the_same_answer_with_one_decryption(self):
        first = self.elsewhere(self.look_up)
        second = self.elsewhere(self.look_up)

        self.assertEqual(first, second)
        self.assertEqual(self.blob, second['blob'])
        self.assertNotIn('encrypted_blob', second)
        self.assertNotIn('key_hash', second)
        self.assertEqual(1, len(self.work))

    def test_an_answer_that_is_changed_is_the_callers_own(self):
        for _ in range(2):
            self.get()['secret'] = 'other'

        self.assertEqual(self.blob, self.get())

    def test_too_old(self):
        self.get()
        self.now += 59.9
        self.get()
        self.assertEqual(1, len(self.work))

        self.now += 0.1
        self.get()

        self.assertEqual(2, len(self.work))
        self.assertEqual(1, len(self.kept._kept))

    def test_what_is_too_old_goes_when_another_comes(self):
        self.get()
        other = self.new_id()
        self.now += 60

        self.get(other)

        self.assertEqual(1, len(self.kept._kept))

    def test_too_many(self):
        self.keep_most(3)
        ids = [self.new_id() for _ in range(5)]
        for credential_id in ids:
            self.get(credential_id)
            self.assertLessEqual(len(self.kept._kept), 3)
        self.work.clear()

        for credential_id in ids[2:]:
            self.get(credential_id)
        self.assertEqual([], self.work)
        self.get(ids[1])
        self.assertEqual(1, len(self.work))

    def test_too_long(self):
        blob = {'access': 'a', 'secret': 'b' * 2048}
        self.api.update_credential(
            self.credential['id'], {**self.credential, 'blob': blob}
        )
        self.assertEqual([blob] * 2, [self.get(), self.get()])

        self.assertEqual(0, len(self.kept._kept))

    def test_switched_off(self):
        self.config_fixture.config(group='credential', caching=False)
        self.get()
        self.get()
        self.assertEqual(2, len(self.work))
        self.assertEqual(0, len(self.kept._kept))

    def test_same_blob_of_another_type(self):
        row = self.api.driver.get_credential(self.credential['id'])

        texts = [
            self.kept.get(dict(row, type=kind), self.api._decrypt_credential)
            for kind in ('ec2', 'cert', 'ec2', 'cert')
        ]

        self.assertEqual(self.blob, texts[2]['blob'])
        self.assertIsInstance(texts[3]['blob'], str)
        self.assertEqual(2, len(self.work))

    def test_a_row_is_left_as_it_is(self):
        row = self.api.driver.get_credential(self.credential['id'])
        before = dict(row)
        for _ in range(2):
            self.kept.get(row, self.api._decrypt_credential)

        self.assertEqual(before, row)

    def test_an_error_is_not_kept(self):
        row = self.api.driver.get_credential(self.credential['id'])
        for _ in range(2):
            self.assertRaises(
                keystone.exception.CredentialEncryptionError,
                self.kept.get,
                dict(row, encrypted_blob='rubbish'),
                self.api._decrypt_credential,
            )

        self.assertEqual(0, len(self.kept._kept))


class KeyTests(s3_base.S3TestCase):
    """Keys come and go as before."""

    def setUp(self):
        super().setUp()
        self.keys = fernet_utils.FernetUtils(
            CONF.credential.key_repository,
            fernet.MAX_ACTIVE_KEYS,
            'credential',
        )
        self.ask()
        self.ask()

    def migrate(self):
        """Do what keystone-manage credential_migrate does."""
        command = cli.CredentialMigrate.__new__(cli.CredentialMigrate)
        command.credential_api = PROVIDERS.credential_api
        command.credential_provider_api = PROVIDERS.credential_provider_api
        self.elsewhere(command.migrate_credentials)

    def stored(self):
        return PROVIDERS.credential_api.driver.get_credential(
            self.credential['id']
        )

    def test_rotated_and_migrated_until_the_first_key_is_gone(self):
        hashes = set()
        for _ in range(fernet.MAX_ACTIVE_KEYS + 1):
            hashes.add(self.stored()['key_hash'])
            self.keys.rotate_keys()
            self.ask()
            self.migrate()
            self.ask()

        self.assertEqual(fernet.MAX_ACTIVE_KEYS + 1, len(hashes))

    def test_removed_key(self):
        shutil.rmtree(CONF.credential.key_repository)
        os.mkdir(CONF.credential.key_repository)

        self.assertRaises(
            keystone.exception.CredentialEncryptionError,
            self.elsewhere,
            self.look_up,
        )
