# SPDX-License-Identifier: Apache-2.0

"""Memory of the worker processes, by live events and by validated tokens.

``audit`` and ``chain`` are kinds of events. Token caching is disabled, so that
stock does check them. ``tokens`` are validated in turns, until each process
has validated each. The processes are restarted for each measurement, and
their memory is measured after the load, in ascending order of the numbers.
"""

import pathlib
import re
import statistics

from bench import client
from bench import events
from bench import load
from bench import rotation
from bench import table
from bench import testbed
from patchset import child
from patchset import progress

TITLE = 'Memory of a worker process'

KINDS = {'small': ('chain',), 'full': ('audit', 'chain')}
EVENTS = {'small': (0, 10_000), 'full': (0, 1000, 10_000, 100_000)}
TOKENS = {'small': (0, 5000), 'full': (0, 1000, 5000, 20_000)}
_CLIENTS = 4
_MIB = 2**20


def run(plan):
    """Run the experiment; see :mod:`bench.experiments`."""
    measured = {}
    uncached = {'token': {'caching': 'false'}}
    with testbed.both(plan, uncached) as sides:
        for side in sides:
            for kind in (*KINDS[plan.scale], 'tokens'):
                numbers, load_of = EVENTS[plan.scale], by_events
                if kind == 'tokens':
                    numbers, load_of = TOKENS[plan.scale], by_tokens
                for number, one in load_of(side, kind, numbers, plan.options):
                    measured.setdefault((kind, number), {})[side.name] = one
                    size = statistics.mean(one['pss']) / _MIB
                    progress.step(
                        f'{kind}, {number}, {side.name}: '
                        f'{size:.1f} MiB per process'
                    )
    return points(measured)


def by_events(side, kind, numbers, _):
    """Add events, and validate.

    :param numbers: how many events there are to be, in rising order
    :returns: iterator of (number, what :func:`of_workers` gives)
    """
    side.delete_events()
    side.keystone.restart()
    filled = 0
    for number in numbers:
        if number:
            events.add(side, kind, filled + 1, number, numbers[-1])
        filled = number
        requests = load.validations([client.token(side.keystone)] * _CLIENTS)
        side.flush_cache()
        # None is answered before its process has read the events.
        for _ in range(2):
            load.exactly(side.url, requests, _CLIENTS)
        yield number, of_workers(side)


def by_tokens(side, kind, numbers, options):
    """Validate tokens in turns.

    :param numbers: how many tokens there are to be, in rising order
    :param options: of keystone.conf: {section: {option: value}}
    :returns: iterator of (number, what :func:`of_workers` gives)
    """
    side.delete_events()
    tokens = client.rescoped_tokens(side.keystone, 1 + numbers[-1])
    # What the processes needed to issue them is no part of it.
    side.keystone.restart(options)
    # Nor is what the first answer makes a process load.
    side.flush_cache()
    requests = load.validations(tokens[:1] * _CLIENTS)
    for number in numbers:
        load.exactly(side.url, requests * 2, _CLIENTS)
        if number:
            rotation.meet(side, tokens[: 1 + number])
        yield number, of_workers(side)


def of_workers(side):
    """Memory of the processes that answer requests.

    :returns: dict of lists, a number of bytes for each process: ``pss``
        (shared pages divided by those who share them) and ``rss``
    """
    pids = child.children(side.keystone.pid)
    return {
        name.lower(): [
            1024 * kilobytes(pid, 'smaps_rollup', name) for pid in pids
        ]
        for name in ('Pss', 'Rss')
    }


def kilobytes(pid, file, name):
    """What a file in /proc says of a process; None if it has ended."""
    text = pathlib.Path(f'/proc/{pid}/{file}').read_text()
    found = re.search(rf'^{name}:\s+(\d+) kB$', text, re.M)
    return int(found[1]) if found else None


def points(measured):
    """Put the processes together.

    :param measured: {(kind, number): {side: what :func:`of_workers` gave}}
    :returns: list of dicts: ``kind``, ``number`` of events or tokens, and
        for each side ``pss`` and ``rss`` (mean of its processes, in MiB),
        ``each`` (bytes of PSS that one event or token has added, since
        none; None at 0), and ``processes`` (list of bytes)
    """
    found = []
    for (kind, number), of_sides in measured.items():
        point = {'kind': kind, 'number': number}
        for side, one in of_sides.items():
            mean = statistics.mean(one['pss'])
            none = statistics.mean(measured[kind, 0][side]['pss'])
            point[side] = {
                'pss': round(mean / _MIB, 2),
                'rss': round(statistics.mean(one['rss']) / _MIB, 2),
                'each': round((mean - none) / number) if number else None,
                'processes': one['pss'],
            }
        found.append(point)
    return found


#: The points as a table.
text = table.of_sides(
    'kind', 'number', table.SIDE, ('PSS MiB', 'pss', '{:.1f}'),
    ('RSS MiB', 'rss', '{:.1f}'), ('bytes each', 'each', '{}'),
)  # fmt: skip
