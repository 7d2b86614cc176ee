# SPDX-License-Identifier: Apache-2.0

"""Status line and exit code of monitoring plugins."""

from keystone.cmd.revocation import command

OK = 0
WARNING = 1
CRITICAL = 2
UNKNOWN = 3

_NAMES = ('OK', 'WARNING', 'CRITICAL', 'UNKNOWN')


def judge(figures, warning=None, critical=None):
    """Compare the number of live events with the thresholds.

    :param figures: dict of :func:`keystone.cmd.revocation.figures.count`
    :param warning: number above which the state is WARNING, or None
    :param critical: number above which the state is CRITICAL, or None
    :returns: exit code, words
    """
    live, expired = figures['live'], figures['expired']
    code = OK
    if warning is not None and live > warning:
        code = WARNING
    if critical is not None and live > critical:
        code = CRITICAL
    limits = ';'.join(
        '' if limit is None else str(limit) for limit in (warning, critical)
    )
    return code, (
        f'{live} live revocation events, {expired} expired | '
        f'live={live};{limits};0 expired={expired};;;0 '
        f'last_hour={figures["last_hour"]};;;0'
    )


def line(title, code, words):
    """The status line for an exit code.

    :returns: str
    """
    return f'{title} {_NAMES[code]} - {words}'


class Status(command.Command):
    """Base class of a command that a monitoring system may run."""

    #: Module with the output formats, and with what the status line starts
    #: with as ``TITLE``.
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
        """The figures in the format that was asked for."""
        render = getattr(self.formats, f'as_{options.format or "table"}')
        return render(figures)
