# SPDX-License-Identifier: Apache-2.0

"""The command that tells of keys."""

import os
import stat

from keystone.cmd.fernet_keys import status
from keystone.common import sql
from keystone.credential.backends import sql as credential_sql
from keystone.credential.providers import fernet as credential_fernet
from keystone.tests.unit.fernet_keys import command_base

GRACE = 120

# Some user but root.
OTHER = 65534


class StatusTests(command_base.CommandTestCase):
    def test_roles_and_times(self):
        began = self.clock().timestamp()
        self.clock.tick(100)
        self.rotate()
        self.clock.tick(50)

        staged, secondary, primary = self.status()['keys']

        self.assertEqual(
            [(0, 'staged'), (1, 'secondary'), (2, 'primary')],
            [(k['index'], k['role']) for k in (staged, secondary, primary)],
        )
        self.assertIsNone(staged['last_signed'])
        self.assertEqual(began + 100, secondary['last_signed'])
        self.assertEqual(began + 100 + 3600 + 7200 + GRACE, secondary['until'])
        self.assertEqual(began + 150 + 3600 + 7200 + GRACE, primary['until'])
        self.assertTrue(secondary['removed'] and secondary['cut'])

    def test_credentials(self):
        key_hash = self.add_credential('a')
        found = self.status('credential')
        self.assertEqual([0, 1], [k['credentials'] for k in found['keys']])
        self.assertTrue(found['safe'])
        self.assertIsNone(found['keys'][1]['until'])

        self.assertEqual(0, self.manage('credential_rotate', '--safe')[0])

        found = self.status('credential')
        self.assertEqual([0, 1, 0], [k['credentials'] for k in found['keys']])
        self.assertFalse(found['safe'])
        self.assertNotEqual(key_hash, self.add_credential('b'))

    def add_credential(self, name):
        blob, key_hash = credential_fernet.Provider().encrypt('secret')
        with sql.session_for_write() as session:
            session.add(
                credential_sql.CredentialModel(
                    id=name, user_id='u', type='t', encrypted_blob=blob,
                    key_hash=key_hash, extra={},
                )
            )  # fmt: skip
        return key_hash

    def test_table(self):
        self.rotate()

        code, out = self.manage('fernet_status')

        self.assertEqual(0, code)
        self.assertRegex(out, 'FERNET KEYS OK - fernet_tokens: rotation is n')
        self.assertRegex(out, r'1 .*secondary .*deleted: still needed')

    def test_prometheus(self):
        _code, out = self.manage('fernet_status', '--format', 'prometheus')
        described = set()
        for line in out.splitlines():
            if line.startswith('# '):
                described.add(line.split(' ')[2])
                continue
            name, value = line.rsplit(' ', 1)
            self.assertIn(name.partition('{')[0], described)
            float(value)
        self.assertIn(
            'keystone_fernet_rotation_safe{repository="fernet_tokens"} 1', out
        )

    def test_forget(self):
        words = ('fernet_status', '--forget', 'a')
        self.assertEqual(0, self.manage(*words)[0])
        self.config_fixture.config(
            group='cache',
            enabled=True,
            backend='dogpile.cache.pymemcache',
            memcache_servers=['127.0.0.1:1'],
        )

        code, out = self.manage(*words)

        self.assertEqual(3, code)
        self.assertIn('a is not forgotten: the shared cache is unav', out)

    def test_no_staged_key(self):
        os.unlink(os.path.join(self.of('fernet_tokens'), '0'))
        self.config_fixture.config(group='fernet_tokens', max_active_keys=1)

        (primary,) = self.status()['keys']

        self.assertTrue(primary['removed'])

    def test_rotation_that_was_interrupted(self):
        folder = self.of('fernet_tokens')
        staged = os.path.join(folder, '0')
        temporary = os.path.join(folder, '0.tmp')
        os.rename(staged, temporary)

        code, out = self.manage('fernet_status')

        self.assertEqual(1, code)
        self.assertIn('FERNET KEYS WARNING - fernet_tokens: rotation is', out)
        self.assertIn('not safe: key 0 is missing', out)
        code, out = self.manage('fernet_rotate', '--safe')
        self.assertEqual(4, code)
        self.assertIn('key 0 is missing', out)
        self.assertEqual(['1'], self.keys())
        os.rename(temporary, staged)
        self.assertEqual(0, self.rotate('--safe')[0])

    def test_key_that_is_cut_short(self):
        path = os.path.join(self.of('fernet_tokens'), '1')
        os.truncate(path, 20)

        code, out = self.manage('fernet_status')

        self.assertEqual(3, code)
        self.assertIn(f'FERNET KEYS UNKNOWN - invalid key: {path}', out)
        self.assertEqual(4, self.rotate('--safe')[0])
        self.assertEqual(['0', '1'], self.keys())

    def test_upgrade_check(self):
        self.assertEqual([], list(status.findings()))
        self.config_fixture.config(group='fernet_tokens', max_active_keys=2)
        ((code, _text),) = status.findings()
        self.assertEqual('WARNING', code.name)


class OwnerTests(command_base.CommandTestCase):
    """Run as root, in folders of another user."""

    # The folder of the test run is closed to other users.
    rootdir = '/tmp'

    def setUp(self):
        super().setUp()
        if os.geteuid():
            self.skipTest('only root can work as another user')
        os.chmod(self.folder, 0o711)
        self.give(self.of('fernet_tokens'))
        self.history = os.path.join(self.of('fernet_tokens'), '.history')
        for path in self.files():
            if path.endswith('.json'):
                self.path = path
        # What the other user must not get hold of.
        self.secret = os.path.join(self.folder, 'secret')
        os.mkdir(self.secret, 0o700)
        self.shadow = os.path.join(self.secret, 'shadow')
        with open(self.shadow, 'w') as file:
            file.write('{"nodes": {"a-node-of-root": {"until": 9e9}}}')
        os.chmod(self.shadow, 0o600)
        self.before = self.seen()

    def give(self, top):
        for folder, _folders, names in os.walk(top):
            for path in (folder, *(os.path.join(folder, n) for n in names)):
                os.lchown(path, OTHER, OTHER)

    def files(self, top=None):
        return [
            os.path.join(folder, name)
            for folder, _folders, names in os.walk(top or self.history)
            for name in names
        ]

    def seen(self):
        """Owners, modes and contents."""
        found = []
        for path in (self.secret, *self.files(self.secret)):
            its = os.stat(path)
            text = ''
            if stat.S_ISREG(its.st_mode):
                with open(path) as file:
                    text = file.read()
            found.append((path, its.st_uid, its.st_gid, its.st_mode, text))
        return found

    def plant(self, target, path):
        """Put a link where the command finds a file or folder."""
        if os.path.isdir(path):
            os.rename(path, f'{path}.old')
        else:
            os.unlink(path)
        os.symlink(target, path)
        os.lchown(path, OTHER, OTHER)

    def assert_kept(self):
        for words in (
            ('fernet_status',),
            ('fernet_rotate', '--explain'),
            ('fernet_rotate', '--safe'),
            ('fernet_rotate',),
        ):
            code, out = self.manage(*words)
            self.assertEqual(self.before, self.seen(), words)
            self.assertNotIn('a-node-of-root', out)
            if words != ('fernet_rotate',):
                self.assertIn(code, (3, 4), words)
                self.assertRegex(out, 'Permission denied|symbolic links')

    def test_a_link_for_the_lock(self):
        self.plant(self.shadow, f'{self.path}.lock')

        self.assert_kept()

    def test_a_link_for_the_lock_to_nothing(self):
        self.plant(os.path.join(self.secret, 'new'), f'{self.path}.lock')

        self.assert_kept()

    def test_a_link_for_the_records(self):
        self.plant(self.shadow, self.path)

        self.assert_kept()

    def test_a_link_for_the_folder(self):
        self.plant(self.secret, self.history)

        self.assert_kept()

    def assert_given(self, folder):
        self.assertEqual(0, self.manage('fernet_status')[0])
        self.assertEqual(0, self.rotate('--safe')[0])
        self.assertEqual([], list(status.findings()))
        paths = [folder, *self.files(folder)]
        self.assertLess(2, len(paths))
        for path in paths:
            its = os.stat(path)
            self.assertEqual((OTHER, OTHER), (its.st_uid, its.st_gid), path)
        self.assertEqual((0, 0), (os.geteuid(), os.getegid()))

    def test_what_root_makes_is_given(self):
        for path in self.files():
            os.unlink(path)
        os.rmdir(self.history)

        self.assert_given(self.history)

    def test_what_root_makes_where_it_is_configured(self):
        folder = os.path.join(self.folder, 'of', 'records')
        self.config_fixture.config(group='fernet_tokens', key_history=folder)
        for group in ('fernet_receipts', 'credential'):
            self.give(self.of(group))

        self.assert_given(folder)

    def test_records_of_keys_of_root(self):
        """The service may only read the keys."""
        folder = os.path.join(self.folder, 'records')
        os.mkdir(folder, 0o700)
        self.give(folder)
        self.config_fixture.config(group='fernet_tokens', key_history=folder)
        os.lchown(self.of('fernet_tokens'), 0, OTHER)

        self.assert_given(folder)
