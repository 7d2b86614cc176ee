# SPDX-License-Identifier: Apache-2.0

"""Table and gauges of the statistics."""

import prettytable

from keystone.cmd.revocation import command
from keystone.cmd.revocation import monitoring

TITLE = 'REVOCATION'
PREFIX = 'keystone_revocation'


def as_table(figures):
    """For people.

    :param figures: dict of :mod:`~keystone.cmd.revocation.figures`
    :returns: str
    """
    rows = [
        ('live', f'{figures["live"]:,}'),
        ('expired, not yet pruned', f'{figures["expired"]:,}'),
        ('total', f'{figures["total"]:,}'),
        ('recorded in the last hour', f'{figures["last_hour"]:,}'),
        ('maximum kept in memory', f'{figures["most_in_memory"]:,}'),
        ('oldest', command.moment(figures['oldest'])),
        ('newest', command.moment(figures['newest'])),
    ]
    if 'kinds' in figures:
        for kind, number in sorted(figures['kinds'].items()):
            rows.append((f'distinct, by {kind}', f'{number:,}'))
        rows.append(('distinct', f'{figures["distinct"]:,}'))
        seconds, size = figures['load_seconds'], figures['load_bytes']
        rows.append(('load time in seconds', f'{seconds:.1f}'))
        if size is not None:
            rows.append(('MiB of memory per worker', f'{size / 2**20:.1f}'))
    table = prettytable.PrettyTable(['Revocation events', 'Value'])
    table.align = 'l'
    table.add_rows(rows)
    return table.get_string()


def gauges(figures):
    """Name, description and {labels: value} of each gauge."""
    yield (
        'events',
        'Revocation events in the table.',
        {
            monitoring.labels(state=state): figures[state]
            for state in ('live', 'expired')
        },
    )
    yield (
        'events_last_hour',
        'Revocation events recorded in the last hour.',
        {'': figures['last_hour']},
    )
    yield (
        'most_events_in_memory',
        'Maximum number of live events kept by workers; 0 for no limit.',
        {'': figures['most_in_memory']},
    )
    for name in ('oldest', 'newest'):
        moment = figures[name]
        yield (
            f'{name}_event_timestamp_seconds',
            f'When the {name} revocation event was recorded.',
            {'': moment and (moment - command.FIRST).total_seconds()},
        )
    if 'kinds' not in figures:
        return
    yield (
        'distinct_events',
        'Distinct live revocation events, by their attributes.',
        {
            monitoring.labels(kind=kind): number
            for kind, number in sorted(figures['kinds'].items())
        },
    )
    yield (
        'load_seconds',
        'Time a worker takes to load the live events.',
        {'': round(figures['load_seconds'], 3)},
    )
    yield (
        'load_bytes',
        'Memory a worker uses for the live events.',
        {'': figures['load_bytes']},
    )
