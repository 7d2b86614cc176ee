# SPDX-License-Identifier: Apache-2.0

"""Effect of the size of the catalog on the requests that return it.

``validate`` and ``rescope`` return the catalog, with all values cached.
``first`` is the median duration, in milliseconds, of rescoping to a project
that was not requested since the catalog has changed.

The rate for a size is also divided by that of the same side with one endpoint,
from the same slice of the same round.
"""

import statistics

from bench import client
from bench import load
from bench import population
from bench import runs
from bench import table
from bench import testbed

TITLE = 'Effect of the size of the catalog'
SIZES = {'small': (1, 300), 'full': (1, 100, 300, 1000)}
SECONDS = {'small': 1, 'full': 2}  # of a slice
SLICES = {'small': 3, 'full': 4}  # of each size in a round
REPEATS = {'small': 2, 'full': 3}
LOADS = ('validate', 'rescope')
CLIENTS = 4
PROJECTS = {'small': 10, 'full': 30}
_WARM = 10  # requests of each client


def run(plan):
    """Run the experiment; see :mod:`bench.experiments`."""
    results, first = runs.Runs('load', 'endpoints'), {}
    with testbed.both(plan) as sides:
        projects = {
            side: population.projects(side, PROJECTS[plan.scale])
            for side in sides
        }
        for _ in range(REPEATS[plan.scale]):
            for size in SIZES[plan.scale]:
                clouds = {}
                for side in sides:
                    clouds[side], times = fill(side, size, projects[side])
                    first.setdefault((side.name, size), []).append(times)
                for name, side in testbed.rounds(
                    sides, SLICES[plan.scale], LOADS
                ):
                    results.measure(
                        side, (name, size), measure, side, name,
                        *clouds[side], SECONDS[plan.scale],
                    )  # fmt: skip
    return points(results, first)


def fill(side, size, projects):
    """Fill the catalog of a side, and let its processes read it.

    :param projects: ids of projects that are not requested otherwise
    :returns: ((token, id of its project), list of milliseconds for each of
        the projects)
    """
    population.fill_catalog(side, size)
    token = client.token(side.keystone)
    project_id = client.token_data(side.keystone, token)['project']['id']
    # Each process reads the catalog.
    requests = load.validations([token]) * CLIENTS * _WARM
    load.exactly(side.url, requests, CLIENTS)
    times = [
        client.milliseconds(client.rescope, side.keystone, token, project)
        for project in projects
    ]
    for _ in range(_WARM):
        client.rescope(side.keystone, token, project_id)
    return (token, project_id), times


def measure(side, name, token, project_id, seconds):
    """Measure a time slice, see :meth:`bench.load.Answers.measure`."""
    requests = load.validations([token])
    if name == 'rescope':
        requests = [('', '', client.rescope_body(token, project_id))]
    return load.during(side.url, requests, seconds, CLIENTS).measure()


def points(results, first):
    """Summarize the rounds.

    :param results: a :class:`bench.runs.Runs` by load and number of endpoints
    :param first: {(side, endpoints): for each round, a list of milliseconds}
    :returns: the result of :meth:`bench.runs.Runs.points`, with each side's
        runs divided by those with the smallest catalog, and for each side
        ``first`` (milliseconds)
    """
    smallest = min(endpoints for _, endpoints in results.measured)
    points = results.points(
        references=lambda values: results.measured[values[0], smallest]
    )
    for point in points:
        for side in ('stock', 'patched'):
            times = first[side, point['endpoints']]
            medians = [statistics.median(round_times) for round_times in times]
            point[side]['first'] = round(statistics.median(medians), 1)
    return sorted(points, key=lambda point: LOADS.index(point['load']))


text = table.of_sides(
    'load', 'endpoints', table.SIDE, table.RATE,
    ('of own 1', 'of_own_0', table.percent), *table.RATIO, *table.times(),
    ('first ms', 'first', '{:.0f}'), table.RUNS,
)  # fmt: skip
