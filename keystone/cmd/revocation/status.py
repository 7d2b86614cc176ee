# SPDX-License-Identifier: Apache-2.0

from keystone.cmd.revocation import arguments
from keystone.cmd.revocation import command
from keystone.cmd.revocation import figures
from keystone.cmd.revocation import formats
from keystone.cmd.revocation import monitoring
from keystone.cmd.revocation import output

_FORMATS = {
    'table': formats.as_table,
    'json': formats.as_json,
    'prometheus': formats.as_prometheus,
}


class RevocationStatus(command.Command):
    """Show the number of revocation events and the cost of loading them."""

    name = 'revocation_status'
    # A monitoring system would interpret any other code as a state.
    wrong_arguments = monitoring.UNKNOWN
    no_database = monitoring.UNKNOWN

    @classmethod
    def add_arguments(cls, parser):
        parser.add_argument(
            '--format',
            choices=sorted(_FORMATS),
            help='Output format. (Default: table)',
        )
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
                type=arguments.threshold,
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
            code, line = monitoring.judge(found, *limits)
            print(line)
            return code
        most = found['most_in_memory']
        # A worker does not load more than the limit either.
        if not options.no_load and not 0 < most < found['live']:
            found.update(self.read(figures.load, driver))
        self._write(_FORMATS[options.format or 'table'](found), options.output)
        return 0

    def _write(self, text, path):
        if path is None:
            print(text)
            return
        try:
            output.replace(path, f'{text}\n')
        except OSError as error:
            raise command.Stop(
                monitoring.UNKNOWN, f'--output {path}: {error.strerror}'
            ) from None

    @classmethod
    def end(cls, stop):
        # Monitoring systems show what is on standard output.
        print(monitoring.line(stop.code, stop))
        raise SystemExit(stop.code)
