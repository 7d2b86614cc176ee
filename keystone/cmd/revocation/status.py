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
    """Tell how many revocation events there are, and what they cost."""

    name = 'revocation_status'
    # A monitoring system takes any other code for an answer.
    wrong_arguments = monitoring.UNKNOWN
    no_database = monitoring.UNKNOWN

    @classmethod
    def add_arguments(cls, parser):
        parser.add_argument(
            '--format',
            choices=sorted(_FORMATS),
            help='How to write the figures. (Default: table)',
        )
        parser.add_argument(
            '--output',
            metavar='FILE',
            help='File to replace with the figures, in one step. (Default: '
            'standard output)',
        )
        parser.add_argument(
            '--no-load',
            action='store_true',
            help='Do not load the live events to see what that costs.',
        )
        for level in ('warning', 'critical'):
            parser.add_argument(
                f'--{level}',
                type=arguments.threshold,
                metavar='NUMBER',
                help='Answer as a plugin of a monitoring system: one line, '
                f'and {level} if there are more live events than this.',
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
                f'--warning {options.warning} is more than '
                f'--critical {options.critical}',
            )
        driver = self.driver()
        found = self.read(figures.count, driver)
        if plugin:
            code, line = monitoring.judge(found, *limits)
            print(line)
            return code
        most = found['most_in_memory']
        # A worker does not load more either.
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
        # Such a system shows what is on standard output.
        print(monitoring.line(stop.code, stop))
        raise SystemExit(stop.code)
