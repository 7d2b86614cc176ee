# SPDX-License-Identifier: Apache-2.0

import argparse
import contextlib
import io

from keystone.cmd import revocation
from keystone.cmd.revocation import command
from keystone.tests.unit.revoke import prune_base


class CommandTestCase(prune_base.PruneTestCase):
    """Runs a command within the test's process."""

    def live(self, number):
        """Write rows that were recorded 1, 2, 3, … minutes ago."""
        minute = 60 * prune_base.SECOND
        self.rows(
            {
                'audit_id': f'live {minutes}',
                'revoked_at': self.clock.utcnow - minutes * minute,
            }
            for minutes in range(1, number + 1)
        )

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
