# SPDX-License-Identifier: Apache-2.0

"""The commands that rotate."""

import errno
import json
import os
import re
from unittest import mock

from keystone.common import replaced_file
from keystone.tests.unit.fernet_keys import command_base


class RotationTests(command_base.CommandTestCase):
    def test_refused_until_it_is_safe(self):
        self.rotate('--safe')
        before = self.keys()
        self.assertEqual(['0', '1', '2'], before)

        code, out = self.rotate('--safe')

        self.assertEqual(4, code)
        self.assertEqual(before, self.keys())
        time, _receipts = re.findall('earliest safe time: (.*) UTC', out)
        self.assertEqual('2032-01-01 13:02:00', time)
        self.clock.move_to(time)
        self.clock.tick(-1)
        self.assertEqual(4, self.rotate('--safe')[0])
        self.clock.tick(1)
        self.assertEqual((0, ''), self.rotate('--safe'))
        self.assertEqual(['0', '2', '3'], self.keys())

    def test_each_command_and_the_option(self):
        self.config_fixture.config(
            group='fernet_tokens', refuse_unsafe_rotation=True
        )
        for command, group in (
            ('token_rotate', 'fernet_tokens'),
            ('receipt_rotate', 'fernet_receipts'),
        ):
            self.assertEqual(0, self.manage(command)[0])
            before = self.keys(group)
            self.assertEqual(4, self.manage(command)[0])
            self.assertEqual(4, self.manage(command, '--safe')[0])
            self.assertEqual(before, self.keys(group))
            self.assertEqual(0, self.manage(command, '--no-safe')[0])
            self.assertNotEqual(before, self.keys(group))

    def test_stock_rotates(self):
        for _ in range(3):
            self.assertEqual(0, self.rotate()[0])
        self.assertEqual(['0', '3', '4'], self.keys())

    def test_all_or_none(self):
        """No repository is rotated while one of them must not be."""
        self.config_fixture.config(group='fernet_tokens', max_active_keys=10)
        self.rotate()
        before = self.keys()

        self.assertEqual(4, self.rotate('--safe')[0])

        self.assertEqual(before, self.keys())

    def test_a_longer_expiration_of_before(self):
        self.config_fixture.config(group='token', expiration=86400)
        self.status()
        self.config_fixture.config(group='token', expiration=60)
        self.rotate()
        self.clock.tick(40_000)

        self.assertEqual(4, self.rotate('--safe')[0])

    def test_a_longer_window_of_before(self):
        self.config_fixture.config(group='token', allow_expired_window=86400)
        self.status()
        self.config_fixture.config(group='token', allow_expired_window=0)
        self.rotate()
        self.clock.tick(40_000)

        self.assertEqual(4, self.rotate('--safe')[0])

    def test_explain(self):
        self.rotate()

        code, out = self.rotate('--explain')

        self.assertEqual(4, code)
        self.assertEqual(['0', '1', '2'], self.keys())
        lines = [line.split('|')[1:-1] for line in out.splitlines()]
        rows = [[word.strip() for word in one] for one in lines]
        rows = [(*one[:2], *one[-2:]) for one in rows if one]
        for row in (
            ('0', 'staged', '-', 'primary'),
            (
                '1',
                'secondary',
                '2032-01-01 13:02:00 UTC',
                'deleted: still needed',
            ),
            (
                '2',
                'primary',
                '2032-01-01 13:02:00 UTC, increasing',
                'secondary',
            ),
        ):
            self.assertIn(row, rows)
        self.assertIn('not safe: key 1 would be deleted but is still', out)
        self.assertIn('rotate at most once every 3.0 hours', out)
        self.assertIn('To rotate every day, set max_active_keys to 3', out)
        self.assertIn('earliest safe time: 2032-01-01 13:02:00 UTC', out)

    def test_explain_what_is_safe(self):
        code, out = self.rotate('--explain')

        self.assertEqual(0, code)
        self.assertIn('Safe now.', out)
        self.assertEqual(['0', '1'], self.keys())

    def test_too_few_keys(self):
        for number in (1, 2):
            self.config_fixture.config(
                group='fernet_tokens', max_active_keys=number
            )
            code, out = self.rotate('--safe')

            self.assertEqual(4, code)
            self.assertIn('waiting does not help', out)
            self.assertIn('a key in use', self.rotate('--explain')[1])
            self.assertEqual(1, self.manage('fernet_status')[0])

    def test_nodes_that_are_not_known(self):
        self.config_fixture.config(group='fernet_tokens', expected_nodes=0)

        code, out = self.rotate('--safe')

        self.assertEqual(4, code)
        self.assertIn('expected_nodes is not 1', out)
        # No other node will ever be ready.
        self.assertNotIn('as soon as all nodes are ready', out)

    def test_records_that_cannot_be_written(self):
        path = os.path.join(self.folder, 'a file')
        with open(path, 'w'):
            pass
        self.config_fixture.config(group='fernet_tokens', key_history=path)

        self.assertEqual(4, self.rotate('--safe')[0])
        code, out = self.manage('fernet_status')
        self.assertEqual(3, code)
        self.assertIn('FERNET KEYS UNKNOWN - ', out)
        self.assertEqual(0, self.rotate()[0])

    def test_records_that_cannot_be_written_any_more(self):
        full = OSError(errno.ENOSPC, 'No space left on device')
        with mock.patch.object(replaced_file, 'replace', side_effect=full):
            self.assertEqual((0, ''), self.rotate('--safe'))
            self.assertEqual(['0', '1', '2'], self.keys())
            # Nothing was recorded, and nothing is allowed for that.
            self.assertEqual(4, self.rotate('--safe')[0])

    def test_cache_that_cannot_be_configured(self):
        self.config_fixture.config(
            group='cache',
            enabled=True,
            backend='dogpile.cache.memcached',
            enable_retry_client=True,
        )
        self.config_fixture.config(group='fernet_tokens', expected_nodes=0)

        self.assertEqual(0, self.rotate()[0])
        self.assertEqual(['0', '1', '2'], self.keys())
        for words in (('fernet_rotate', '--safe'), ('fernet_status',)):
            out = self.manage(*words)[1]
            self.assertIn('the shared cache is unavailable', out)

    def test_no_keys(self):
        for group in ('fernet_tokens', 'fernet_receipts', 'credential'):
            self.config_fixture.config(
                group=group, key_repository=self.of('nothing')
            )
        self.assertEqual(3, self.manage('fernet_status')[0])
        self.assertEqual(4, self.rotate('--safe')[0])

    def test_one_repository_for_both(self):
        """What is for tokens and receipts lives as long as tokens."""
        self.config_fixture.config(
            group='fernet_receipts', key_repository=self.of('fernet_tokens')
        )
        self.rotate()

        self.assertEqual(4, self.manage('receipt_rotate', '--safe')[0])
        _code, out = self.manage('fernet_status', '--format', 'json')
        self.assertEqual(2, len(json.loads(out)['repositories']))
