# SPDX-License-Identifier: Apache-2.0

"""Responses for a token that both sides have validated before.

``validate``
    GET /v3/auth/tokens by 20 clients, as fast as possible, with a catalog of
    one endpoint and, at full scale, of 300.
``version``
    GET /v3 without a token: the maximum rate of the server and its WSGI stack.
``offered``
    Validations at a steady rate, the same for both sides and lower than the
    capacity of stock: the response times without queueing.

Sides alternate from round to round, and the patched rate is divided by stock's
rate of the slice before or after it. The results are medians of the rounds.
"""

import dataclasses

from bench import client
from bench import endpoints
from bench import offered
from bench import rig
from bench import summary
from bench import table
from bench import turns
from patchset import progress

TITLE = 'Rate of responses for one frequently validated token'
LOADS = ('validate', 'version', 'offered')
SIZES = {'small': (1,), 'full': (1, 300)}
SECONDS = {'small': 1, 'full': 4}  # of a slice
REPEATS = {'small': 4, 'full': 8}
CLIENTS = 20
OFFERED = 50  # requests per second
_WARM = 2  # seconds


def run(plan):
    """Run the experiment.

    :param plan: a :class:`bench.plan.Plan`
    :returns: what :func:`points` gives
    """
    seconds, repeats = SECONDS[plan.scale], REPEATS[plan.scale]
    measured = {}
    with rig.both(plan) as sides:
        for size in SIZES[plan.scale]:
            tokens = {side.name: filled(side, size) for side in sides}
            for number in range(repeats):
                for name in loads(size):
                    for side in rig.turn(sides, number):
                        one = measure(side, tokens[side.name], name, seconds)
                        measured.setdefault((name, size), {}).setdefault(
                            side.name, []
                        ).append(dataclasses.asdict(one))
                        progress.step(
                            f'{number + 1} of {repeats}: {size} endpoints, '
                            f'{name}, {side.name}: {table.rate(one.rate)}/s'
                        )
    return points(measured)


def filled(side, size):
    """Fill the catalog of a side, and have each process answer.

    :returns: a token
    """
    endpoints.fill(side, size)
    side.forget()
    token = client.token(side.keystone)
    turns.validate(side.url, token, [token], _WARM, CLIENTS)
    return token


def loads(size):
    """Names of the loads; the version has no catalog."""
    return [name for name in LOADS if size == 1 or name != 'version']


def measure(side, token, name, seconds):
    """One slice of time of a load, as a :class:`bench.load.Measure`."""
    if name == 'version':
        return turns.get(side.keystone.url, seconds, CLIENTS)
    if name == 'validate':
        return turns.validate(side.url, token, [token], seconds, CLIENTS)
    headers = client.headers(token)
    return offered.get(side.url, headers, OFFERED, seconds, CLIENTS)


def points(measured):
    """Sum up the rounds.

    :param measured: {(load, endpoints): {side: list with the fields of
        :class:`bench.load.Measure` for each round}}
    :returns: a list of dicts, one per load and size: ``load``, ``endpoints``,
        and what :func:`bench.summary.compared` gives
    """
    return [
        {'load': name, 'endpoints': size, **summary.compared(runs)}
        for name in LOADS
        for (what, size), runs in measured.items()
        if what == name
    ]


def text(found):
    """The points as a table."""
    head = [
        'load', 'endpoints', 'side', '1/s', 'by stock', 'spread', 'p50 ms',
        'p99 ms', 'runs',
    ]  # fmt: skip

    def cells(point, side, one):
        return [
            point['load'], point['endpoints'], side,
            table.rate(one['rate']),
            *table.by_stock(point, side),
            f'{one["p50"]:.1f}', f'{one["p99"]:.1f}', one['repeats'],
        ]  # fmt: skip

    return table.of_sides(head, found, cells)
