# SPDX-License-Identifier: Apache-2.0

"""Effect of the size of the catalog on the requests that return it.

Catalogs of several sizes are written directly into the tables, and the cache
is flushed, so that Keystone notices the change. For each size and side:

``validate``
    GET /v3/auth/tokens for a project-scoped token, whose response contains
    the catalog.
``rescope``
    POST /v3/auth/tokens, which exchanges a token for another one of the same
    project, repeatedly by one user: everything that can be cached is cached.
``first``
    The same for projects that were not requested since the catalog has
    changed, one after the other: the median in milliseconds.

Sides alternate from slice to slice; each round has several slices for each
size. The rate of a size is divided by that of the same side with one endpoint,
from the same slice of the same round. The patched rate is also divided by that
of stock from the same slice. The results are the medians of the slices.
"""

import dataclasses
import statistics
import time

from bench import client
from bench import endpoints
from bench import load
from bench import rig
from bench import summary
from bench import table
from patchset import progress

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
    """Run the experiment.

    :param plan: a :class:`bench.plan.Plan`
    :returns: what :func:`points` gives
    """
    sizes = SIZES[plan.scale]
    measured, first = {}, {}
    repeats = REPEATS[plan.scale]
    with rig.both(plan) as sides:
        projects = {
            side.name: endpoints.projects(side, PROJECTS[plan.scale])
            for side in sides
        }
        for number in range(repeats):
            for size in sizes:
                clouds = {}
                for side in sides:
                    clouds[side.name], times = fill(
                        side, size, projects[side.name]
                    )
                    first.setdefault((side.name, size), []).append(times)
                for side in rig.slices(sides, number, SLICES[plan.scale]):
                    rates = measure(
                        side, *clouds[side.name], SECONDS[plan.scale]
                    )
                    for name, rate in rates.items():
                        measured.setdefault(
                            (side.name, name, size), []
                        ).append(rate)
                    progress.step(
                        f'{number + 1} of {repeats}: {size} endpoints, '
                        f'{side.name}: '
                        + ', '.join(
                            f'{name} {table.rate(rates[name]["rate"])}/s'
                            for name in LOADS
                        )
                    )
    return points(measured, first, sizes)


def fill(side, size, projects):
    """Fill the catalog of a side, and have its processes read it.

    :param projects: ids of projects that are not requested otherwise
    :returns: ((token, id of its project), list of milliseconds, one for each
        of the projects)
    """
    endpoints.fill(side, size)
    side.forget()
    token = client.token(side.keystone)
    ((own,),) = side.query(
        "SELECT id FROM project WHERE name = 'admin' AND is_domain = 0"
    )
    # Each process reads the catalog.
    load.each(side.url, [client.headers(token)] * CLIENTS, _WARM)
    times = []
    for project in projects:
        start = time.monotonic()
        client.rescope(side.keystone, token, project)
        times.append(1000 * (time.monotonic() - start))
    for _ in range(_WARM):
        client.rescope(side.keystone, token, own)
    return (token, own), times


def measure(side, token, project_id, seconds):
    """One slice of time for each load.

    :returns: {load: dict with the fields of :class:`bench.load.Measure`}
    """
    headers, body = client.headers(token), client.rescoping(token, project_id)
    rates = {
        'validate': load.get(side.url, headers, seconds, CLIENTS),
        'rescope': load.post(side.url, {}, [body] * CLIENTS, seconds),
    }
    return {name: dataclasses.asdict(one) for name, one in rates.items()}


def points(measured, first, sizes):
    """Sum up the rounds.

    :param measured: {(side, load, endpoints): list with the fields of
        :class:`bench.load.Measure` for each slice}
    :param first: {(side, endpoints): for each round, a list of milliseconds}
    :returns: a list of dicts, one per load and size: ``load``,
        ``endpoints``, for each side what :func:`bench.summary.of` gives
        against the smallest size, and ``first`` (milliseconds), and
        ``ratio`` (patched by stock) with ``ratio_spread``
    """
    found = []
    for name in LOADS:
        for size in sizes:
            point = {'load': name, 'endpoints': size}
            for side in ('stock', 'patched'):
                point[side] = summary.of(
                    measured[side, name, size], measured[side, name, sizes[0]]
                )
                rounds = [statistics.median(t) for t in first[side, size]]
                point[side]['first'] = round(statistics.median(rounds), 1)
            point.update(
                summary.by_stock(
                    measured['patched', name, size],
                    measured['stock', name, size],
                )
            )
            found.append(point)
    return found


def text(found):
    """The points as a table."""
    head = [
        'load', 'endpoints', 'side', '1/s', 'of own 1', 'by stock', 'spread',
        'p50 ms', 'p99 ms', 'first ms', 'runs',
    ]  # fmt: skip

    def cells(point, side, one):
        return [
            point['load'], point['endpoints'], side,
            table.rate(one['rate']), table.percent(one['of_own_0']),
            *table.by_stock(point, side),
            f'{one["p50"]:.0f}', f'{one["p99"]:.0f}',
            f'{one["first"]:.0f}', one['repeats'],
        ]  # fmt: skip

    return table.of_sides(head, found, cells)
