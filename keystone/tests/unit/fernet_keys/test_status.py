# SPDX-License-Identifier: Apache-2.0

"""The command that tells of keys."""

from keystone.cmd.fernet_keys import status
from keystone.common import sql
from keystone.credential.backends import sql as credential_sql
from keystone.credential.providers import fernet as credential_fernet
from keystone.tests.unit.fernet_keys import command_base

GRACE = 120


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

    def test_upgrade_check(self):
        self.assertEqual('SUCCESS', status.check(None).code.name)
        self.config_fixture.config(group='fernet_tokens', max_active_keys=2)
        self.assertEqual('WARNING', status.check(None).code.name)
