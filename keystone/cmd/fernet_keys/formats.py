# SPDX-License-Identifier: Apache-2.0

"""Output formats of the key status."""

import datetime
import json

import prettytable

from keystone.cmd.revocation import monitoring

#: What the status line starts with.
TITLE = 'FERNET KEYS'


def summary(figures):
    """The overall status in one line.

    :param figures: list of dicts of :mod:`keystone.cmd.fernet_keys.figures`
    :returns: exit code, line
    """
    code = max(one['code'] for one in figures)
    words = '; '.join(map(verdict, figures))
    return code, monitoring.line(TITLE, code, words)


def as_table(figures):
    """For people, preceded by the status line."""
    parts = [summary(figures)[1]]
    for one in figures:
        table = prettytable.PrettyTable(
            ['Key', 'Role', 'Name', 'Age', 'Last signed', 'Valid until',
             'Next rotation']
        )  # fmt: skip
        table.align = 'l'
        for key in one['keys']:
            table.add_row(_row(key))
        parts.append(
            f'\n{one["section"]}: {one["repository"]}\n{table.get_string()}'
        )
        parts.extend(f'  not safe: {reason}' for reason in one['reasons'])
        for name, other in sorted(one['nodes'].items()):
            parts.append(f'  {name}: {_node(other)}')
    return '\n'.join(parts)


def as_json(figures):
    """For programs."""
    return json.dumps(
        {'code': summary(figures)[0], 'repositories': figures},
        indent=2,
        sort_keys=True,
    )


def as_prometheus(figures):
    """For the textfile collector of Prometheus's node exporter."""
    lines = []
    for name, words, samples in (*_of_keys(figures), *_of_nodes(figures)):
        name = f'keystone_fernet_{name}'
        lines.append(f'# HELP {name} {words}')
        lines.append(f'# TYPE {name} gauge')
        lines.extend(
            f'{name}{_labels(labels)} {value}'
            for labels, value in samples
            if value is not None
        )
    return '\n'.join(lines)


def _of_keys(figures):
    """Name, description and samples of each metric about keys."""
    for name, words in (
        ('age', 'Seconds since the key was created.'),
        ('last_signed', 'Latest time at which the key may have signed.'),
        ('until', 'Time at which everything the key signed has expired.'),
        ('cut', 'Whether a rotation now would delete the key too early.'),
    ):
        samples = [
            (
                (one['section'], key['index'], key['role']),
                int(key[name]) if name == 'cut' else key[name],
            )
            for one in figures
            for key in one['keys']
        ]
        yield f'key_{name}', words, samples


def _of_nodes(figures):
    """The same for each metric about rotations and nodes."""

    def samples(value):
        return [((one['section'],), value(one)) for one in figures]

    yield (
        'rotation_safe',
        'Whether a rotation now is safe.',
        samples(lambda one: int(one['safe'])),
    )
    yield (
        'rotation_earliest_timestamp_seconds',
        'Earliest time at which a rotation deletes no key too early.',
        samples(lambda one: one['earliest']),
    )
    for what in ('ready', 'silent', 'unreadable', 'missing', 'extra'):
        yield (
            f'nodes_{what}',
            f'Number of other nodes that are or have: {what}.',
            samples(lambda one, what=what: _count(one, what)),
        )
    yield (
        'nodes_without_staged',
        'Number of other nodes that do not have the staged key yet.',
        samples(
            lambda one: sum(
                not other['staged'] for other in one['nodes'].values()
            )
        ),
    )


def _labels(values):
    names = ('repository', 'key', 'role')
    pairs = ','.join(f'{n}="{v}"' for n, v in zip(names, values))
    return '{' + pairs + '}'


def _count(one, what):
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
    if not seconds:
        return '-'
    utc = datetime.datetime.fromtimestamp(seconds, datetime.timezone.utc)
    return f'{utc:%Y-%m-%d %H:%M:%S} UTC'
