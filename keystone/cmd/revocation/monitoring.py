# SPDX-License-Identifier: Apache-2.0

"""Status line and exit code of monitoring plugins."""

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
    :returns: exit code, line
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
    return code, line(
        code,
        f'{live} live revocation events, {expired} expired | '
        f'live={live};{limits};0 expired={expired};;;0 '
        f'last_hour={figures["last_hour"]};;;0',
    )


def line(code, words):
    """The status line for an exit code.

    :returns: str
    """
    return f'REVOCATION {_NAMES[code]} - {words}'
