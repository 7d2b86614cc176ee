# SPDX-License-Identifier: Apache-2.0

"""Memory of the worker processes, by live events and by validated tokens.

``audit`` and ``chain`` are kinds of events. Token caching is disabled, so that
stock checks them. ``tokens`` are validated in turn, until each process has
validated each. The processes are restarted for each kind, and their memory is
measured after the load, in ascending order of the numbers.
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
                numbers, measure = EVENTS[plan.scale], by_events
                if kind == 'tokens':
                    numbers, measure = TOKENS[plan.scale], by_tokens
                for number, sizes in measure(
                    side, kind, numbers, plan.options
                ):
                    measured.setdefault((kind, number), {})[side.name] = sizes
                    size = statistics.mean(sizes['pss']) / _MIB
                    progress.step(
                        f'{kind}, {number}, {side.name}: '
                        f'{size:.1f} MiB per process'
                    )
    return points(measured)


def by_events(side, kind, numbers, _):
    """Measure the memory for some numbers of events.

    :param numbers: numbers of events, in ascending order
    :returns: iterator of (number, result of :func:`of_workers`)
    """
    side.delete_events()
    side.keystone.restart()
    added = 0
    for number in numbers:
        if number:
            events.add(side, kind, added + 1, number, numbers[-1])
        added = number
        requests = load.validations([client.token(side.keystone)] * _CLIENTS)
        side.flush_cache()
        # A process responds after it has read the events.
        for _ in range(2):
            load.exactly(side.url, requests, _CLIENTS)
        yield number, of_workers(side)


def by_tokens(side, kind, numbers, options):
    """Measure the memory for some numbers of validated tokens.

    :param numbers: numbers of tokens, in ascending order
    :param options: options of keystone.conf: {section: {option: value}}
    :returns: iterator of (number, result of :func:`of_workers`)
    """
    side.delete_events()
    tokens = client.rescoped_tokens(side.keystone, 1 + numbers[-1])
    # Neither the memory used for issuing them is measured,
    side.keystone.restart(options)
    # nor what a process loads for the first response.
    side.flush_cache()
    requests = load.validations(tokens[:1] * _CLIENTS)
    for number in numbers:
        load.exactly(side.url, requests * 2, _CLIENTS)
        if number:
            rotation.validate_in_each_process(side, tokens[: 1 + number])
        yield number, of_workers(side)


def of_workers(side):
    """Memory of the worker processes.

    :returns: dict of lists with the bytes of each process: ``pss`` (shared
        pages are divided by the number of processes) and ``rss``
    """
    pids = child.children(side.keystone.pid)
    return {
        name.lower(): [
            1024 * kilobytes(pid, 'smaps_rollup', name) for pid in pids
        ]
        for name in ('Pss', 'Rss')
    }


def kilobytes(pid, file, name):
    """A size from a file in /proc of a process; None if it has ended."""
    text = pathlib.Path(f'/proc/{pid}/{file}').read_text()
    match = re.search(rf'^{name}:\s+(\d+) kB$', text, re.M)
    return int(match[1]) if match else None


def points(measured):
    """Summarize the processes.

    :param measured: {(kind, number): {side: result of :func:`of_workers`}}
    :returns: list of dicts: ``kind``, ``number`` of events or tokens, and
        for each side ``pss`` and ``rss`` (mean of its processes, in MiB),
        ``each`` (growth of the PSS per event or token in bytes; None at 0),
        and ``processes`` (list of bytes)
    """
    points = []
    for (kind, number), sides in measured.items():
        point = {'kind': kind, 'number': number}
        for side, sizes in sides.items():
            mean = statistics.mean(sizes['pss'])
            start = statistics.mean(measured[kind, 0][side]['pss'])
            point[side] = {
                'pss': round(mean / _MIB, 2),
                'rss': round(statistics.mean(sizes['rss']) / _MIB, 2),
                'each': round((mean - start) / number) if number else None,
                'processes': sizes['pss'],
            }
        points.append(point)
    return points


text = table.of_sides(
    'kind', 'number', table.SIDE, ('PSS MiB', 'pss', '{:.1f}'),
    ('RSS MiB', 'rss', '{:.1f}'), ('bytes each', 'each', '{}'),
)  # fmt: skip
