# SPDX-License-Identifier: Apache-2.0

"""Commands whose output and exit code a monitoring system may use."""

import json

from keystone.cmd.revocation import command

OK = 0
WARNING = 1
CRITICAL = 2
UNKNOWN = 3

_NAMES = ('OK', 'WARNING', 'CRITICAL', 'UNKNOWN')


def line(title, code, words):
    """The status line for an exit code.

    :returns: str
    """
    return f'{title} {_NAMES[code]} - {words}'


def labels(**pairs):
    """The labels of a sample, as Prometheus has them."""
    words = ','.join(f'{name}="{value}"' for name, value in pairs.items())
    return f'{{{words}}}'


class Status(command.Command):
    """Base class of a command that a monitoring system may run."""

    #: Module with ``TITLE``, with which the status line starts, ``PREFIX``, of
    #: the names of gauges, and the functions ``as_table`` and ``gauges``.
    formats = None
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
        print(line(cls.formats.TITLE, stop.code, stop))
        raise SystemExit(stop.code)

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
        return self.formats.as_table(figures)

    def _exposition(self, figures):
        # For the textfile collector of Prometheus's node exporter.
        for name, words, samples in self.formats.gauges(figures):
            name = f'{self.formats.PREFIX}_{name}'
            yield f'# HELP {name} {words}'
            yield f'# TYPE {name} gauge'
            for its_labels, value in samples.items():
                if value is not None:
                    yield f'{name}{its_labels} {value}'
