# SPDX-License-Identifier: Apache-2.0

import http.client
import os

import fixtures

from keystone.common import after_fork
from keystone.common.cache import stores
from keystone.common import fernet_utils
from keystone.tests import unit
from keystone.tests.unit.ksfixtures import shared_cache
from keystone.tests.unit.validation_cache import base
from keystone.token.validation_cache import sealing


class SealingTests(unit.TestCase):
    """Records are sealed with what only Keystone knows."""

    def setUp(self):
        super().setUp()
        self.folder = self.useFixture(fixtures.TempDir()).path
        folders = {}
        for kind in ('private', 'public'):
            folders[f'jws_{kind}_key_repository'] = self.path(kind)
            os.mkdir(self.path(kind))
            self.write('a', kind, f'{kind}.pem')
        self.config_fixture.config(group='token', provider='jws')
        self.config_fixture.config(group='jwt_tokens', **folders)
        self.private = self.path('private', 'private.pem')
        self.sealer = sealing.Sealer()

    def path(self, *names):
        return os.path.join(self.folder, *names)

    def write(self, text, *names):
        with open(self.path(*names), 'w') as file:
            file.write(text)

    def test_nonce_that_repeats(self):
        """With one key for all, this would reveal what two records share."""
        keys, texts = self.sealer.read(), (b'of one token', b'of another')
        with fixtures.MockPatch('secrets.token_bytes', bytes):
            one, two = (sealing.seal(keys, repr(x), x) for x in texts)

        def differences(one, two):
            return bytes(a ^ b for a, b in zip(one, two))

        self.assertEqual(one[:13], two[:13])
        self.assertNotEqual(
            differences(*texts), differences(one[13:], two[13:])[:10]
        )
        for text, sealed in zip(texts, (one, two)):
            self.assertEqual(text, sealing.unseal(keys, repr(text), sealed))

    def test_public_keys_only(self):
        self.write('b', 'private', 'other.pem')
        for text in ('', '\n'):
            self.assertIsNotNone(self.sealer.read())
            self.write(text, self.private)
            self.assertIsNone(self.sealer.read())
            os.unlink(self.private)
            self.assertIsNone(self.sealer.read())
            self.write('a', self.private)

    def test_content_that_changes_in_place(self):
        keys = self.sealer.read()
        self.assertIs(keys, self.sealer.read())
        before = os.stat(self.private)
        # Some file systems only note the time every few milliseconds.
        clock = self.path('clock')
        while True:
            self.write('', 'clock')
            if os.stat(clock).st_ctime_ns > before.st_ctime_ns:
                break
        for text in ('b', 'bb'):
            # As copied with its time.
            self.write(text, self.private)
            os.utime(self.private, ns=(before.st_atime_ns, before.st_mtime_ns))

            self.assertIsNot(keys, self.sealer.read())
            self.assertNotEqual(keys.names, self.sealer.read().names)
            keys = self.sealer.read()

    def test_other_files_that_change(self):
        """As the history of the keys does, at each record."""
        before = self.sealer.read()
        for text in ('a', 'bb'):
            self.write(text, 'private', 'history.json')

            self.assertIs(before, self.sealer.read())
        self.write('b', self.private)
        self.assertNotEqual(before.names, self.sealer.read().names)

    def test_key_that_cannot_be_read(self):
        os.mkdir(self.path('public', 'folder'))
        self.assertIsNone(self.sealer.read())
        os.rmdir(self.path('public', 'folder'))
        self.assertIsNotNone(self.sealer.read())

    def test_other_files_beside_the_private_key(self):
        # As Kubernetes mounts a secret.
        os.mkdir(self.path('private', '..data'))
        self.assertIsNotNone(self.sealer.read())

    def test_key_that_vanishes(self):
        """It was listed before a rotation removed it."""
        self.config_fixture.config(group='token', provider='fernet')
        with fixtures.MockPatchObject(
            fernet_utils.FernetUtils,
            '_get_key_files',
            side_effect=FileNotFoundError,
        ):
            self.assertIsNone(self.sealer.read())

        self.assertIsNotNone(self.sealer.read())


class KeyTests(base.ValidationCacheTestCase):
    """A record falls with the key of its token, and with options."""

    def test_shorter_lifetime_after_a_restart(self):
        """The values that a record rests on may be too old now."""
        subject = self.get_scoped_token()
        self.ask(subject)
        for section, option in (
            ('identity', 'cache_time'),
            ('cache', 'expiration_time'),
        ):
            self.config_fixture.config(group=section, **{option: 100})
            shared_cache.forget_in_process()
            after_fork.run()

            with self.counted(miss__unknown=2, made=2):
                self.ask(subject)

    def test_deleted_while_its_record_is_read(self):
        token = self.get_unscoped_token()
        self.ask(token, token)
        self.cache.clear()
        get_many = stores.ProcessStore.get_many
        key = os.path.join(
            self.config_fixture.conf.fernet_tokens.key_repository, '1'
        )

        def read(store, keys):
            found = get_many(store, keys)
            if os.path.exists(key):
                os.unlink(key)
                # Another request notices that.
                self.ask(token, token)
            return found

        with fixtures.MockPatchObject(stores.ProcessStore, 'get_many', read):
            self.ask(token, token)

        self.assertNoHit(token, token, status=http.client.UNAUTHORIZED)
