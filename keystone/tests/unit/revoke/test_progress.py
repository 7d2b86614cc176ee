# SPDX-License-Identifier: Apache-2.0

import io
import os

from keystone.cmd.revocation import progress
from keystone.tests import unit
from keystone.tests.unit.revoke import replica_base


class Terminal(io.StringIO):
    def isatty(self):
        return True


class ProgressTests(unit.BaseTestCase):
    def setUp(self):
        super().setUp()
        self.clock = replica_base.Clock()
        self.patch(os, 'environ', {**os.environ, 'COLUMNS': '70'})

    def progress(self, stream, total=1000):
        return progress.Progress(stream, total, clock=self.clock)

    def test_lines(self):
        stream = io.StringIO()
        told = self.progress(stream)

        for done in range(30):
            self.clock.tick(1)
            told.update(10 * done)
        told.end()

        self.assertEqual(
            [
                '90 of 1,000, 9/s, 1:41 left',
                '190 of 1,000, 10/s, 1:25 left',
                '290 of 1,000, 10/s, 1:13 left',
            ],
            stream.getvalue().splitlines(),
        )

    def test_a_bar(self):
        stream = Terminal()
        told = self.progress(stream)

        self.clock.tick(1)
        told.update(500)
        told.update(501)

        self.assertEqual(
            '\r[' + '#' * 15 + '.' * 15 + ']  50% 500 of 1,000, 500/s, '
            '0:01 left',
            stream.getvalue(),
        )

        bar = stream.getvalue()
        told.end()
        self.assertEqual(
            '\r' + ' ' * (len(bar) - 1) + '\r', stream.getvalue()[len(bar) :]
        )

    def test_a_bar_fits_the_terminal(self):
        for columns in ('10', '40', '200'):
            os.environ['COLUMNS'] = columns
            stream = Terminal()
            told = self.progress(stream, 10**9)
            self.clock.tick(10**6)
            told.update(10**8)
            self.assertLess(len(stream.getvalue()), int(columns) + 1)

    def test_a_line_takes_the_bar_away(self):
        stream = Terminal()
        told = self.progress(stream)
        self.clock.tick(1)
        told.update(500)

        told.note('a line')

        self.assertEqual('\ra line\n', stream.getvalue()[-8:])

    def test_more_than_there_were(self):
        for total in (0, 5):
            stream = Terminal()
            told = self.progress(stream, total)
            self.clock.tick(1)
            told.update(7)
            self.assertIn('100%', stream.getvalue())
