# SPDX-License-Identifier: Apache-2.0

"""Fernet and JWS tokens: creating them with a password, and validating them.

One client shows the response time, several show the throughput. Four
Keystones, stock and patched with each format, take turns and change their
order from round to round. Each client validates the same token repeatedly.
"""

import dataclasses

from bench import client
from bench import load
from bench import rig
from bench import summary
from bench import table
from patchset import progress

TITLE = 'Cost of the token format'

FORMATS = {'fernet': {}, 'jws': {'token': {'provider': 'jws'}}}
SECONDS = {'small': 1, 'full': 10}
REPEATS = {'small': 3, 'full': 5}
SEVERAL = 4  # clients
LOADS = tuple(
    (what, clients)
    for what in ('create', 'validate')
    for clients in (1, SEVERAL)
)
_WARM = 10  # requests of each client


def run(plan):
    """Run the experiment.

    :param plan: a :class:`bench.plan.Plan`
    :returns: what :func:`points` gives
    """
    seconds, repeats = SECONDS[plan.scale], REPEATS[plan.scale]
    measured = {}
    with rig.each(plan, FORMATS) as rigs:
        for number in range(repeats):
            for what, clients in LOADS:
                for name, sides in rigs.items():
                    for side in rig.turn(sides, number):
                        one = measure(side, what, clients, seconds)
                        about = side.name, name, what, clients
                        measured.setdefault(about, []).append(
                            dataclasses.asdict(one)
                        )
                        progress.step(
                            f'{number + 1} of {repeats}: {what} {name}, '
                            f'{clients} at once, {side.name}: '
                            f'{table.rate(one.rate)}/s'
                        )
    return points(measured)


def measure(side, what, clients, seconds):
    """One slice of time, after a warm-up.

    :param what: ``create`` or ``validate``
    :returns: a :class:`bench.load.Measure`
    """
    if what == 'create':
        body = client.login(side.keystone)
        load.number(side.url, {}, _WARM * clients, clients, body)
        return load.post(side.url, {}, [body] * clients, seconds)
    headers = [client.headers(client.token(side.keystone))] * clients
    load.each(side.url, headers, _WARM)
    return load.together(side.url, headers, seconds)


def points(measured):
    """Sum up the rounds.

    :param measured: {(side, format, what, clients): list with the fields of
        :class:`bench.load.Measure` for each round}
    :returns: list of dicts, one per format and load: ``format``, ``what``,
        ``clients``, what :func:`bench.summary.compared` gives, and for each
        side ``ms``, the mean time of an answer
    """
    found = []
    for name in FORMATS:
        for what, clients in LOADS:
            runs = {
                side: measured[side, name, what, clients]
                for side in ('stock', 'patched')
            }
            point = {'format': name, 'what': what, 'clients': clients}
            point.update(summary.compared(runs))
            for side in runs:
                mean = 1000 * clients / point[side]['rate']
                point[side]['ms'] = round(mean, 2)
            found.append(point)
    return found


def text(found):
    """The points as a table."""
    head = [
        'format', 'request', 'at once', 'side', '1/s', 'by stock', 'spread',
        'mean ms', 'p50 ms', 'p99 ms', 'runs',
    ]  # fmt: skip

    def cells(point, side, one):
        return [
            point['format'], point['what'], point['clients'], side,
            table.rate(one['rate']),
            *table.by_stock(point, side),
            f'{one["ms"]:.2f}', f'{one["p50"]:.0f}',
            f'{one["p99"]:.0f}', one['repeats'],
        ]  # fmt: skip

    return table.of_sides(head, found, cells)
