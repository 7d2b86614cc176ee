# SPDX-License-Identifier: Apache-2.0

"""Tests of the search for the reason in a log."""

import pathlib

import fixtures
import testtools

from patchset import logs


class ReasonTestCase(testtools.TestCase):
    def setUp(self):
        super().setUp()
        folder = self.useFixture(fixtures.TempDir()).path
        self.path = pathlib.Path(folder) / 'log'

    def reason(self, text, start=0):
        self.path.write_text(text)
        return logs.reason(self.path, start)

    def test_end_of_a_traceback(self):
        self.assertEqual(
            'a.b.DriverError: no such driver',
            self.reason(
                'Traceback (most recent call last):\n  File "x", line 1\n'
                '2026-11-20 ERROR keystone a.b.DriverError: no such driver\n'
                '2026-11-20 ERROR keystone \n\n*** no app loaded ***\n'
            ),
        )

    def test_last_line_otherwise(self):
        self.assertEqual('goodbye', self.reason('hello\ngoodbye\n\n'))

    def test_nothing(self):
        self.assertEqual('it said nothing', self.reason('\n'))

    def test_only_what_is_new(self):
        old = 'OldError: before\n'
        self.assertEqual('now', self.reason(f'{old}now\n', len(old)))

    def test_size(self):
        self.assertEqual(0, logs.size(self.path))
        self.path.write_text('four')
        self.assertEqual(4, logs.size(self.path))
