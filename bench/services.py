# SPDX-License-Identifier: Apache-2.0

"""Validation of each token by each service.

keystonemiddleware caches validated tokens for several minutes, so Keystone
receives each pair of a service and a token once in that time, at any of its
processes. Tokens are issued for a password, to users with the role ``member``,
immediately before they are validated. The cases:

``services``
    Six services with a token each, of users with the role ``service``,
    validate 300 tokens of 20 users, each pair once: all by the first service,
    then all by the other five in a random order. Then each pair is validated
    once more.
``nodes``
    The same on two nodes with one database and one memcached. They receive the
    requests in turns; the second validation of a pair goes to the other node.
``users``
    1,000 tokens of 40 users by one service, and once more.
``rescoping``
    Tokens for other tokens, one request after the other.
``middleware``
    Requests to a service behind keystonemiddleware, which validates their
    tokens: one token repeatedly, with several values of ``token_cache_time``,
    and 500 new tokens without its cache.
``processes``
    As ``services``, with one, four and eight processes instead of two.

Stock and patched run each case one immediately after the other, and alternate.
"""

import statistics

from bench import rig
from bench import service_cases
from bench import summary
from bench import table
from patchset import progress

TITLE = 'Cost of validating each token by each service'
CASES = service_cases.CASES


def run(plan):
    """Run the experiment.

    :param plan: a :class:`bench.plan.Plan`
    :returns: what :func:`points` gives
    """
    experiment = service_cases.Experiment(plan)
    with rig.both(plan) as sides:
        progress.step('creating users')
        experiment.make(sides)
        # That with other processes is the last one.
        for case in CASES:
            if case in (plan.cases or CASES):
                getattr(experiment, case)()
    return points(experiment.measured)


def points(measured):
    """Sum up the rounds.

    :param measured: what :class:`bench.service_cases.Experiment` has measured
    :returns: list of dicts, one per load: ``case``, ``where``, ``load``, what
        :func:`bench.summary.compared` gives, and for each side the medians of
        :data:`bench.service_cases.TRAFFIC` (for each request), and ``refused``
        (seconds after which the service refuses a revoked token; None if not
        measured)
    """
    found = []
    for (case, where, load), runs in measured.items():
        point = {'case': case, 'where': where, 'load': load}
        point.update(summary.compared(runs))
        for side, of_side in runs.items():
            for name in (*service_cases.TRAFFIC, 'refused'):
                values = [one[name] for one in of_side if name in one]
                point[side][name] = (
                    round(statistics.median(values), 3) if values else None
                )
        found.append(point)
    return found


def text(found):
    """The points as a table."""
    head = [
        'case', 'where', 'load', 'side', '1/s', 'by stock', 'spread',
        'p50 ms', 'p99 ms', 'gets', 'sets', 'hits', 'refused s', 'runs',
    ]  # fmt: skip

    def cells(point, side, one):
        late = one['refused']
        return [
            point['case'], point['where'], point['load'], side,
            table.rate(one['rate']), *table.by_stock(point, side),
            f'{one["p50"]:.1f}', f'{one["p99"]:.1f}',
            *(f'{one[name]:.1f}' for name in service_cases.TRAFFIC),
            '-' if late is None else f'{late:.2f}', one['repeats'],
        ]  # fmt: skip

    return table.of_sides(head, found, cells)
