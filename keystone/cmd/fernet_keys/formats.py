# SPDX-License-Identifier: Apache-2.0

"""Table and gauges of the key status."""

import datetime
import functools

import prettytable

from keystone.cmd.revocation import command
from keystone.cmd.revocation import monitoring

TITLE = 'FERNET KEYS'
PREFIX = 'keystone_fernet'


def as_table(figures):
    """For people, preceded by the status line."""
    found = figures['repositories']
    words = '; '.join(map(verdict, found))
    parts = [monitoring.line(TITLE, figures['code'], words)]
    for one in found:
        table = prettytable.PrettyTable(
            ['Key', 'Role', 'Name', 'Age', 'Last signed', 'Valid until',
             'Next rotation']
        )  # fmt: skip
        table.align = 'l'
        table.add_rows([_row(key) for key in one['keys']])
        parts.append(
            f'\n{one["section"]}: {one["repository"]}\n{table.get_string()}'
        )
        parts.extend(f'  not safe: {reason}' for reason in one['reasons'])
        for name, other in sorted(one['nodes'].items()):
            parts.append(f'  {name}: {_node(other)}')
    return '\n'.join(parts)


def gauges(figures):
    """Name, description and {labels: value} of each gauge."""
    for name, words in (
        ('age', 'Seconds since the key was created.'),
        ('last_signed', 'Latest time at which the key may have signed.'),
        ('until', 'Time at which everything the key signed has expired.'),
        ('cut', 'Whether a rotation now would delete the key too early.'),
    ):
        samples = {
            monitoring.labels(
                repository=one['section'], key=key['index'], role=key['role']
            ): int(key[name]) if name == 'cut' else key[name]
            for one in figures['repositories']
            for key in one['keys']
        }
        yield f'key_{name}', words, samples
    for name, words, value in (
        (
            'rotation_safe',
            'Whether a rotation now is safe.',
            lambda one: int(one['safe']),
        ),
        (
            'rotation_earliest_timestamp_seconds',
            'Earliest time at which a rotation deletes no key too early.',
            lambda one: one['earliest'],
        ),
        *(
            (
                f'nodes_{what}',
                f'Number of other nodes that are or have: {what}.',
                functools.partial(_count, what),
            )
            for what in ('ready', 'silent', 'unreadable', 'missing', 'extra')
        ),
        (
            'nodes_without_staged',
            'Number of other nodes that do not have the staged key yet.',
            lambda one: sum(not o['staged'] for o in one['nodes'].values()),
        ),
    ):
        samples = {
            monitoring.labels(repository=one['section']): value(one)
            for one in figures['repositories']
        }
        yield name, words, samples


def _count(what, one):
    return sum(
        bool(other.get(what)) or other['state'] == what
        for other in one['nodes'].values()
    )


def verdict(one):
    """Whether a rotation is safe, in one phrase.

    :returns: str
    """
    if one['safe']:
        return f'{one["section"]}: rotation is safe'
    words = one['reasons'][0]
    if one['earliest'] is not None and one['earliest'] > one['now']:
        words += f', until {moment(one["earliest"])}'
    return f'{one["section"]}: rotation is not safe: {words}'


def _row(key):
    if key['credentials'] is not None:
        until = f'{key["credentials"]:,} credentials'
    elif key['role'] == 'primary' and key['until']:
        until = f'{moment(key["until"])}, increasing'
    else:
        until = moment(key['until'])
    return [
        key['index'],
        key['role'],
        key['name'],
        datetime.timedelta(seconds=round(key['age'])),
        moment(key['last_signed']),
        until + (' (assumed)' if key['assumed'] else ''),
        fate(key),
    ]


def fate(key):
    """The effect of a rotation on a key.

    :returns: str
    """
    if key['removed']:
        return 'deleted: still needed' if key['cut'] else 'deleted'
    return {'staged': 'primary', 'primary': 'secondary'}.get(
        key['role'], 'unchanged'
    )


def _node(other):
    words = [other['state']]
    for name in ('missing', 'extra'):
        if other[name]:
            words.append(f'{name} {", ".join(n[:8] for n in other[name])}')
    if other['state'] == 'ready' and not other['staged']:
        words.append('staged key missing')
    return '; '.join(words)


def moment(seconds):
    """Format a time for people.

    :param seconds: since the epoch; 0 or None for none
    :returns: str
    """
    utc = seconds and datetime.datetime.fromtimestamp(
        seconds, datetime.timezone.utc
    )
    return command.moment(utc)
