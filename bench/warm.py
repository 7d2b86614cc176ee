# SPDX-License-Identifier: Apache-2.0

"""Responses for a token that both sides have validated before.

``offered`` is lower than the capacity of stock: the response times without
queueing.
"""

import itertools

from bench import client
from bench import load
from bench import population
from bench import rig
from bench import runs
from bench import table

TITLE = 'Rate of responses for one frequently validated token'
LOADS = ('validate', 'version', 'offered')
SIZES = {'small': (1,), 'full': (1, 300)}
SECONDS = {'small': 1, 'full': 4}  # of a slice
REPEATS = {'small': 4, 'full': 8}
CLIENTS = 20
OFFERED = 50  # requests per second
_WARM = 2  # seconds


def run(plan):
    """Run the experiment; see :mod:`bench.experiments`."""
    sizes = SIZES[plan.scale]
    found = new_runs(sizes)
    with rig.both(plan) as sides:
        for size in sizes:
            tokens = {side: filled(side, size) for side in sides}
            repeats = range(REPEATS[plan.scale])
            # The version has no catalog.
            loads = LOADS if size == 1 else ('validate', 'offered')
            for name, side in rig.rounds(sides, repeats, loads):
                found.measure(
                    side, (name, size), measure, side, tokens[side], name,
                    SECONDS[plan.scale],
                )  # fmt: skip
    return found.points()


def new_runs(sizes):
    """Runs without any yet, for some numbers of endpoints."""
    order = itertools.product(LOADS, sizes)
    return runs.Runs('load', 'endpoints', order=order)


def filled(side, size):
    """Fill the catalog of a side, and have each process answer.

    :returns: a token
    """
    population.fill_catalog(side, size)
    token = client.token(side.keystone)
    load.during(side.url, load.validations([token]), _WARM, CLIENTS)
    return token


def measure(side, token, name, seconds):
    """One slice of time of a load, see :meth:`bench.load.Answers.measure`."""
    url, requests = side.url, load.validations([token])
    if name == 'version':
        url, requests = side.keystone.url, [('', '', '')]
    rate = OFFERED if name == 'offered' else 0
    return load.during(url, requests, seconds, CLIENTS, rate).measure()


#: The points as a table.
text = table.of_sides(
    'load', 'endpoints', table.SIDE, table.RATE, *table.BY_STOCK,
    *table.times('{:.1f}'), table.RUNS,
)  # fmt: skip
