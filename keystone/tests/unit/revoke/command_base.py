# SPDX-License-Identifier: Apache-2.0

import argparse
import contextlib
import datetime
import io

from keystone.cmd import revocation
from keystone.cmd.revocation import command
from keystone.revoke.backends import base as backends
from keystone.tests.unit.revoke import replica_base

SECOND = datetime.timedelta(seconds=1)


class CommandTestCase(replica_base.ReplicaTestCase):
    """Runs a command within the test's process."""

    def setUp(self):
        super().setUp()
        self.cutoff = backends.revoked_before_cutoff_time()

    def expired(self, number):
        """Write rows that expired 1, 2, 3, … seconds ago."""
        self.rows(
            {'user_id': f'expired {age}', 'revoked_at': self.cutoff - age}
            for age in (SECOND * count for count in range(1, number + 1))
        )

    def live(self, number):
        """Write rows that were recorded 1, 2, 3, … minutes ago."""
        self.rows(
            {
                'audit_id': f'live {minutes}',
                'revoked_at': self.clock.utcnow - 60 * minutes * SECOND,
            }
            for minutes in range(1, number + 1)
        )

    def rows(self, rows):
        rows = [{'issued_before': self.cutoff, **row} for row in rows]
        with self.engine.begin() as connection:
            connection.execute(self.table.insert(), rows)

    def left(self):
        """Numbers of events: expired ones, and others."""
        count = self.driver.count_events
        return (
            count(command.FIRST, self.cutoff),
            count(self.cutoff, command.LAST),
        )

    def run_command(self, *words):
        """Run ``keystone-manage`` with these words.

        :returns: exit code, text on standard output and on standard error
        """
        parser = argparse.ArgumentParser()
        subparsers = parser.add_subparsers()
        for one in revocation.COMMANDS:
            one.add_argument_parser(subparsers)
        out, err = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            try:
                options = parser.parse_args(words)
                try:
                    code = options.cmd_class().run(options)
                except command.Stop as stop:
                    options.cmd_class.end(stop)
            except SystemExit as end:
                code = end.code
        return code, out.getvalue(), err.getvalue()

    def assertRefused(self, code, about, *words):
        """The command says one line about what is wrong, and does nothing."""
        before = self.left()
        found, out, err = self.run_command(*words)
        self.assertEqual(code, found, words)
        (line,) = (out + err).splitlines()
        self.assertIn(about, line)
        self.assertEqual(before, self.left())
