# SPDX-License-Identifier: Apache-2.0

import json
import os
import stat

import fixtures

from keystone.tests.unit.revoke import command_base


class RevocationStatusTests(command_base.CommandTestCase):
    def setUp(self):
        super().setUp()
        self.expired(7)
        self.live(90)

    def status(self, *words):
        code, out, err = self.run_command('revocation_status', *words)
        self.assertEqual(('', 0), (err, code))
        return out

    def test_json(self):
        found = json.loads(self.status('--format', 'json'))

        self.assertLess(0, found.pop('load_seconds'))
        self.assertLessEqual(0, found.pop('load_bytes'))
        self.assertEqual(
            {
                'live': 90,
                'expired': 7,
                'total': 97,
                'most_in_memory': 1000000,
                'last_hour': 60,
                'oldest': '2026-10-29T09:29:53Z',
                'newest': '2026-11-02T09:59:00Z',
                'distinct': 90,
                'kinds': {'audit_id': 90},
            },
            found,
        )

    def test_kinds(self):
        for values in (
            {'user_id': 'a'},
            {'user_id': 'b'},
            # The same again counts once.
            {'user_id': 'b'},
            {'user_id': 'a', 'project_id': 'p'},
        ):
            self.rows([{'revoked_at': self.clock.utcnow, **values}])

        found = json.loads(self.status('--format', 'json'))

        self.assertEqual(94, found['live'])
        self.assertEqual(93, found['distinct'])
        self.assertEqual(
            {'audit_id': 90, 'user_id': 2, 'user_id project_id': 1},
            found['kinds'],
        )

    def test_without_loading(self):
        found = json.loads(self.status('--format', 'json', '--no-load'))

        self.assertEqual(
            {
                *('live', 'expired', 'total', 'last_hour', 'oldest', 'newest'),
                'most_in_memory',
            },
            set(found),
        )

    def test_more_events_than_a_worker_keeps(self):
        for most in (0, 89):
            self.config(group='revoke', max_events_in_memory=most)
            found = json.loads(self.status('--format', 'json'))
            self.assertEqual(most, found['most_in_memory'])
            self.assertNotIn('load_bytes', found)

    def test_table(self):
        for words in ((), ('--format', 'table')):
            rows = [
                [word.strip() for word in line.split('|')[1:3]]
                for line in self.status(*words).splitlines()
                if line.startswith('|')
            ]
            for row in (
                ['live', '90'],
                ['expired, not yet pruned', '7'],
                ['total', '97'],
                ['recorded in the last hour', '60'],
                ['oldest', '2026-10-29 09:29:53 UTC'],
                ['newest', '2026-11-02 09:59:00 UTC'],
                ['distinct, by audit_id', '90'],
            ):
                self.assertIn(row, rows)

    def test_prometheus(self):
        lines = self.status('--format', 'prometheus').splitlines()

        for line in (
            'keystone_revocation_events{state="live"} 90',
            'keystone_revocation_events{state="expired"} 7',
            'keystone_revocation_events_last_hour 60',
            'keystone_revocation_most_events_in_memory 1000000',
            'keystone_revocation_oldest_event_timestamp_seconds 1793266193.0',
            'keystone_revocation_newest_event_timestamp_seconds 1793613540.0',
            'keystone_revocation_distinct_events{kind="audit_id"} 90',
        ):
            self.assertIn(line, lines)
        self.assertMetrics(lines)

    def assertMetrics(self, lines):
        """Each sample belongs to a metric that is described before it."""
        described = set()
        for line in lines:
            if line.startswith('# '):
                _mark, _kind, name, _words = line.split(' ', 3)
                described.add(name)
                continue
            name, value = line.rsplit(' ', 1)
            self.assertIn(name.partition('{')[0], described)
            float(value)

    def test_an_empty_table(self):
        self.delete()

        for words in ('table', 'json', 'prometheus'):
            self.status('--format', words)
        found = json.loads(self.status('--format', 'json'))

        self.assertEqual(0, found['total'])
        self.assertIsNone(found['oldest'])
        self.assertEqual({}, found['kinds'])

    def test_thresholds(self):
        figures = 'live={};{};0 expired=7;;;0 last_hour=60;;;0'
        for code, name, limits, words in (
            (0, 'OK', '90;', ['--warning', '90']),
            (1, 'WARNING', '89;', ['--warning', '89']),
            (0, 'OK', ';90', ['--critical', '90']),
            (2, 'CRITICAL', ';89', ['--critical', '89']),
            (0, 'OK', '100;200', ['--warning', '100', '--critical', '200']),
            (1, 'WARNING', '0;90', ['--warning', '0', '--critical', '90']),
            (2, 'CRITICAL', '9;89', ['--warning', '9', '--critical', '89']),
            (2, 'CRITICAL', '9;9', ['--warning', '9', '--critical', '9']),
        ):
            found, out, err = self.run_command('revocation_status', *words)

            self.assertEqual((code, ''), (found, err))
            self.assertEqual(
                f'REVOCATION {name} - 90 live revocation events, 7 expired '
                f'| {figures.format(90, limits)}\n',
                out,
            )

    def test_a_file_is_replaced(self):
        folder = self.useFixture(fixtures.TempDir()).path
        path = os.path.join(folder, 'keystone.prom')
        with open(path, 'w') as file:
            file.write('old')

        out = self.status('--format', 'prometheus', '--output', path)

        self.assertEqual('', out)
        with open(path) as file:
            self.assertMetrics(file.read().splitlines())
        self.assertEqual(0o644, stat.S_IMODE(os.stat(path).st_mode))
        self.assertEqual(['keystone.prom'], os.listdir(folder))

    def test_a_link_is_kept(self):
        folder = self.useFixture(fixtures.TempDir()).path
        path, link = (os.path.join(folder, name) for name in ('a', 'b'))
        os.symlink(path, link)

        self.status('--format', 'prometheus', '--output', link)

        self.assertTrue(os.path.islink(link))
        with open(path) as file:
            self.assertMetrics(file.read().splitlines())

    def test_a_device_is_kept(self):
        folder = self.useFixture(fixtures.TempDir()).path
        path = os.path.join(folder, 'a')
        os.mkfifo(path)

        self.assertRefused(
            3, 'not a regular file', 'revocation_status', '--output', path
        )

        self.assertTrue(stat.S_ISFIFO(os.stat(path).st_mode))

    def test_a_file_that_cannot_be_written(self):
        folder = self.useFixture(fixtures.TempDir()).path
        for path in (os.path.join(folder, 'gone', 'a.prom'), folder):
            self.assertRefused(
                3, folder, 'revocation_status', '--no-load', '--output', path
            )
        self.assertEqual([], os.listdir(folder))

    def test_nonsense(self):
        for about, *words in (
            ('not a number', '--warning', 'many'),
            ('must be 0 or greater', '--critical', '-1'),
            ('greater than', '--warning', '10', '--critical', '5'),
            ('cannot be used', '--format', 'json', '--warning', '10'),
            ('cannot be used', '--output', 'x', '--critical', '10'),
            ('invalid choice', '--format', 'xml'),
        ):
            self.assertRefused(3, about, 'revocation_status', *words)

    def test_an_unknown_option(self):
        self.assertRefused(3, '--worning', 'revocation_status', '--worning=5')

    def test_the_database_cannot_be_read(self):
        self.take_away()
        self.addCleanup(self.bring_back)

        for words in ((), ('--warning', '10'), ('--format', 'json')):
            code, out, err = self.run_command('revocation_status', *words)

            self.assertEqual((3, ''), (code, err))
            self.assertIn('REVOCATION UNKNOWN - ', out)
            self.assertIn('no such table', out)
            self.assertEqual(1, len(out.splitlines()))
