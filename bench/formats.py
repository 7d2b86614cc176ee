# SPDX-License-Identifier: Apache-2.0

"""Creation of Fernet and JWS tokens with a password, and their validation.

Each client validates the same token repeatedly.
"""

import itertools

from bench import load
from bench import runs
from bench import summary
from bench import table
from bench import testbed
from bench import tokens

TITLE = 'Cost of the token format'

FORMATS = {'fernet': {}, 'jws': {'token': {'provider': 'jws'}}}
SECONDS = {'small': 1, 'full': 10}
REPEATS = {'small': 3, 'full': 5}
LOADS = tuple(itertools.product(('create', 'validate'), (1, 4)))  # clients
_WARM = 10  # requests of each client


def run(plan):
    """Run the experiment; see :mod:`bench.experiments`."""
    results = runs.Runs('format', 'what', 'clients')
    with testbed.variants(plan, FORMATS) as variants:
        for (what, clients), (name, side) in testbed.rounds(
            variants, REPEATS[plan.scale], LOADS
        ):
            results.measure(
                side, (name, what, clients), measure, side, what, clients,
                SECONDS[plan.scale],
            )  # fmt: skip
    return points(results)


def measure(side, what, clients, seconds):
    """Measure a time slice, after a warm-up.

    :param what: ``create`` or ``validate``
    :returns: the result of :meth:`bench.load.Answers.measure`
    """
    requests = tokens.request(side, what)
    load.exactly(side.url, requests * clients * _WARM, clients)
    return load.during(side.url, requests, seconds, clients).measure()


def points(results):
    """Summarize the rounds.

    :param results: a :class:`bench.runs.Runs` by format, what and clients
    :returns: the result of :meth:`bench.runs.Runs.points`, and for each side
        ``ms``, the mean response time
    """
    points = results.points()
    for point in points:
        for side in summary.sides(point):
            mean = 1000 * point['clients'] / point[side]['rate']
            point[side]['ms'] = round(mean, 2)
    return points


text = table.of_sides(
    'format', ('request', 'what'), 'clients', table.SIDE,
    table.RATE, *table.RATIO, ('mean ms', 'ms', '{:.2f}'),
    *table.times(), table.RUNS,
)  # fmt: skip
