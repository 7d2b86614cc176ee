# SPDX-License-Identifier: Apache-2.0

"""Repeated validation of one token.

``system`` and ``trust`` are like ``validate``, with tokens for the system and
of a trust.

``offered`` has a rate below the capacity of stock, and shows the response
times without queueing.
"""

from bench import client
from bench import load
from bench import population
from bench import runs
from bench import table
from bench import testbed

TITLE = 'Rate of responses for one frequently validated token'
LOADS = ('validate', 'system', 'trust', 'version', 'offered')
SIZES = {'small': (1,), 'full': (1, 300)}
SECONDS = {'small': 1, 'full': 4}  # of a slice
REPEATS = {'small': 4, 'full': 8}
CLIENTS = 20
OFFERED = 50  # requests per second
_WARM = 2  # seconds


def run(plan):
    """Run the experiment; see :mod:`bench.experiments`."""
    results = runs.Runs('load', 'endpoints')
    with testbed.both(plan) as sides:
        for size in SIZES[plan.scale]:
            # The other loads depend little on the catalog.
            loads = LOADS if size == 1 else ('validate', 'offered')
            tokens = {side: fill(side, size, loads) for side in sides}
            for name, side in testbed.rounds(
                sides, REPEATS[plan.scale], loads
            ):
                results.measure(
                    side, (name, size), measure, side, tokens[side][name],
                    name, SECONDS[plan.scale],
                )  # fmt: skip
    return sorted(
        results.points(), key=lambda point: LOADS.index(point['load'])
    )


def fill(side, size, loads) -> dict:
    """Fill the catalog of a side, and let each process validate the tokens.

    :returns: {load: token}
    """
    population.fill_catalog(side, size)
    tokens = dict.fromkeys(loads, client.token(side.keystone))
    if 'system' in loads:
        tokens['system'] = population.system_token(side.keystone)
        tokens['trust'] = population.trust_token(side.keystone)
    requests = load.validations(set(tokens.values()))
    load.during(side.url, requests, _WARM, CLIENTS)
    return tokens


def measure(side, token, name, seconds):
    """Measure a time slice, see :meth:`bench.load.Answers.measure`."""
    url, requests = side.url, load.validations([token])
    if name == 'version':
        url, requests = side.keystone.url, [('', '', '')]
    rate = OFFERED if name == 'offered' else 0
    return load.during(url, requests, seconds, CLIENTS, rate).measure()


text = table.of_sides(
    'load', 'endpoints', table.SIDE, table.RATE, *table.RATIO,
    *table.times('{:.1f}'), table.RUNS,
)  # fmt: skip
