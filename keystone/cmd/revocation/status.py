# SPDX-License-Identifier: Apache-2.0

import os

from keystone.cmd.revocation import command
from keystone.cmd.revocation import figures
from keystone.cmd.revocation import formats
from keystone.cmd.revocation import monitoring
from keystone.common import replaced_file

# Permissions of the file that is written.
_FOR_ALL = 0o644


class RevocationStatus(monitoring.Status):
    """Show the number of revocation events and the cost of loading them."""

    name = 'revocation_status'
    formats = formats

    @classmethod
    def add_arguments(cls, parser):
        super().add_arguments(parser)
        parser.add_argument(
            '--output',
            metavar='FILE',
            help='File to write, replaced atomically. (Default: standard '
            'output)',
        )
        parser.add_argument(
            '--no-load',
            action='store_true',
            help='Skip loading the live events, which measures time and '
            'memory.',
        )
        for level in ('warning', 'critical'):
            parser.add_argument(
                f'--{level}',
                type=command.number(int, 0),
                metavar='NUMBER',
                help='Print one line and exit as a monitoring plugin, with '
                f'{level} if there are more live events than this.',
            )

    def run(self, options):
        limits = (options.warning, options.critical)
        plugin = limits != (None, None)
        if plugin and (options.format or options.output):
            raise command.Stop(
                self.wrong_arguments,
                '--format and --output cannot be used with --warning and '
                '--critical',
            )
        if None not in limits and options.warning > options.critical:
            raise command.Stop(
                self.wrong_arguments,
                f'--warning {options.warning} is greater than '
                f'--critical {options.critical}',
            )
        driver = self.driver()
        found = self.read(figures.count, driver)
        if plugin:
            return self._judge(found, *limits)
        most = found['most_in_memory']
        # A worker does not load more than the limit either.
        if not options.no_load and not 0 < most < found['live']:
            found.update(self.read(figures.load, driver))
        self._write(self.text(options, found), options.output)
        return 0

    def _judge(self, found, warning, critical):
        """Compare the number of live events with the thresholds."""
        live, expired = found['live'], found['expired']
        code = monitoring.OK
        if warning is not None and live > warning:
            code = monitoring.WARNING
        if critical is not None and live > critical:
            code = monitoring.CRITICAL
        limits = ';'.join(
            '' if limit is None else str(limit)
            for limit in (warning, critical)
        )
        words = (
            f'{live} live revocation events, {expired} expired | '
            f'live={live};{limits};0 expired={expired};;;0 '
            f'last_hour={found["last_hour"]};;;0'
        )
        print(monitoring.line(formats.TITLE, code, words))
        return code

    def _write(self, text, path):
        if path is None:
            print(text)
            return
        # Replacing a link or a device, such as /dev/stdout, would lose it.
        target = os.path.realpath(path)
        if os.path.exists(target) and not os.path.isfile(target):
            raise command.Stop(
                monitoring.UNKNOWN, f'--output {path}: not a regular file'
            )
        try:
            replaced_file.replace(target, f'{text}\n', _FOR_ALL)
        except OSError as error:
            raise command.Stop(
                monitoring.UNKNOWN, f'--output {path}: {error.strerror}'
            ) from None
