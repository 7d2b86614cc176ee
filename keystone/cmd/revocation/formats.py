# SPDX-License-Identifier: Apache-2.0

"""Output formats of the statistics."""

import datetime
import json

import prettytable

#: What the status line starts with.
TITLE = 'REVOCATION'

_EPOCH = datetime.datetime(1970, 1, 1)


def as_table(figures):
    """For people.

    :param figures: dict of :mod:`~keystone.cmd.revocation.figures`
    :returns: str
    """
    table = prettytable.PrettyTable(['Revocation events', 'Value'])
    table.align = 'l'
    for words, name in (
        ('live', 'live'),
        ('expired, not yet pruned', 'expired'),
        ('total', 'total'),
        ('recorded in the last hour', 'last_hour'),
        ('maximum kept in memory', 'most_in_memory'),
    ):
        table.add_row([words, f'{figures[name]:,}'])
    for words, name in (('oldest', 'oldest'), ('newest', 'newest')):
        moment = figures[name]
        table.add_row([words, f'{moment:%Y-%m-%d %H:%M:%S} UTC' if moment
                       else '-'])  # fmt: skip
    if 'kinds' in figures:
        for kind, number in sorted(figures['kinds'].items()):
            table.add_row([f'distinct, by {kind}', f'{number:,}'])
        table.add_row(['distinct', f'{figures["distinct"]:,}'])
        table.add_row(
            ['load time in seconds', f'{figures["load_seconds"]:.1f}']
        )
        if figures['load_bytes'] is not None:
            table.add_row(
                [
                    'MiB of memory per worker',
                    f'{figures["load_bytes"] / 2**20:.1f}',
                ]
            )
    return table.get_string()


def as_json(figures):
    """For programs.

    :param figures: dict of :mod:`~keystone.cmd.revocation.figures`
    :returns: str
    """
    plain = {
        name: value.isoformat() + 'Z'
        if isinstance(value, datetime.datetime)
        else value
        for name, value in figures.items()
    }
    return json.dumps(plain, indent=2, sort_keys=True)


def as_prometheus(figures):
    """For the textfile collector of Prometheus's node exporter.

    :param figures: dict of :mod:`~keystone.cmd.revocation.figures`
    :returns: str, without a trailing newline
    """
    lines = []
    for name, words, samples in _gauges(figures):
        name = f'keystone_revocation_{name}'
        lines.append(f'# HELP {name} {words}')
        lines.append(f'# TYPE {name} gauge')
        lines.extend(
            f'{name}{labels} {value}' for labels, value in samples.items()
        )
    return '\n'.join(lines)


def _gauges(figures):
    """Name, description and {labels: value} of each gauge."""
    yield (
        'events',
        'Revocation events in the table.',
        {
            f'{{state="{state}"}}': figures[state]
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
        if figures[name] is not None:
            yield (
                f'{name}_event_timestamp_seconds',
                f'When the {name} revocation event was recorded.',
                {'': (figures[name] - _EPOCH).total_seconds()},
            )
    if 'kinds' in figures:
        yield from _gauges_of_load(figures)


def _gauges_of_load(figures):
    yield (
        'distinct_events',
        'Distinct live revocation events, by their attributes.',
        {
            f'{{kind="{kind}"}}': number
            for kind, number in sorted(figures['kinds'].items())
        },
    )
    yield (
        'load_seconds',
        'Time a worker takes to load the live events.',
        {'': round(figures['load_seconds'], 3)},
    )
    if figures['load_bytes'] is not None:
        yield (
            'load_bytes',
            'Memory a worker uses for the live events.',
            {'': figures['load_bytes']},
        )
