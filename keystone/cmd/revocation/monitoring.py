# SPDX-License-Identifier: Apache-2.0

"""Commands whose output and exit code a monitoring system may use."""

import json

from keystone.cmd.revocation import command

OK = 0
WARNING = 1
CRITICAL = 2
UNKNOWN = 3

_NAMES = ('OK', 'WARNING', 'CRITICAL', 'UNKNOWN')


class Status(command.Command):
    """Base class of a command that a monitoring system may run.

    Subclasses have two methods, which take the figures, a dict: ``table``
    returns a str, and ``gauges`` yields (name, description, samples), where a
    sample is (dict of labels, number or None).
    """

    #: With which the status line starts.
    title = None
    #: Of the names of gauges.
    prefix = None
    # A monitoring system would interpret any other code as a state.
    wrong_arguments = no_database = failed = UNKNOWN

    @classmethod
    def add_arguments(cls, parser):
        parser.add_argument(
            '--format',
            choices=('json', 'prometheus', 'table'),
            help='Output format. (Default: table)',
        )

    @classmethod
    def end(cls, stop):
        # Monitoring systems show what is on standard output.
        print(cls.line(stop.code, stop))
        raise SystemExit(stop.code)

    @classmethod
    def line(cls, code, words):
        """The status line for an exit code, a str."""
        return f'{cls.title} {_NAMES[code]} - {words}'

    def text(self, options, figures):
        """The figures, a dict, in the format that was asked for."""
        if options.format == 'json':
            return json.dumps(
                figures,
                indent=2,
                sort_keys=True,
                default=lambda moment: f'{moment.isoformat()}Z',
            )
        if options.format == 'prometheus':
            return '\n'.join(self._exposition(figures))
        return self.table(figures)

    def _exposition(self, figures):
        # For the textfile collector of Prometheus's node exporter.
        for name, words, samples in self.gauges(figures):
            name = f'{self.prefix}_{name}'
            yield f'# HELP {name} {words}'
            yield f'# TYPE {name} gauge'
            for labels, value in samples:
                pairs = ','.join(f'{k}="{v}"' for k, v in labels.items())
                if value is not None:
                    # True and False are 1 and 0.
                    yield f'{name}{pairs and f"{{{pairs}}}"} {+value}'
