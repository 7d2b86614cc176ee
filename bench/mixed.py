# SPDX-License-Identifier: Apache-2.0

"""Validations of some tokens while others are revoked.

The loss of a side is relative to its own rate without revocations, measured in
an adjacent time slice, because the speed of a machine can change by a quarter
within a minute. It is never corrected by ``work``, which is only an estimate.

Before each slice, the events are deleted, the cache is flushed, and the tokens
of the clients are validated. Events of a slice stay until its end.
"""

import statistics

from bench import background
from bench import client
from bench import load
from bench import runs
from bench import table
from bench import testbed

TITLE = 'Cost of revocations for tokens that are not revoked'
# Revocations per second; each is compared with none.
RATES = {'small': (10, 50), 'full': (1, 5, 10, 20, 50)}
SECONDS = {'small': 2, 'full': 3}  # of a slice
REPEATS = {'small': 3, 'full': 5}
CLIENTS = 20
_ALONE = 20  # revocations


def footprint(scale):
    """Numbers of tokens issued and revoked on an existing Keystone."""
    rates = RATES[scale]
    revoked = REPEATS[scale] * SECONDS[scale] * sum(rates) + _ALONE + 1
    callers = REPEATS[scale] * len(rates) + 1
    return REPEATS[scale] * CLIENTS + callers + revoked, revoked


def run(plan):
    """Run the experiment; see :mod:`bench.experiments`."""
    busy, quiet = runs.Runs('asked'), runs.Runs('beside')
    # The number of processes of an existing Keystone is unknown.
    processes = None if plan.against else testbed.PROCESSES
    with testbed.sides(plan) as sides:
        alone = {side.name: cost(side) for side in sides}
        for _ in range(REPEATS[plan.scale]):
            requests = {
                side: load.validations(client.tokens(side.keystone, CLIENTS))
                for side in sides
            }
            for rate in RATES[plan.scale]:
                loads = (quiet, 0), (busy, rate)
                for (results, revocations), side in testbed.rounds(
                    sides, 1, loads
                ):
                    results.measure(
                        side, (rate,), measure, side, requests[side],
                        revocations, SECONDS[plan.scale],
                    )  # fmt: skip
    return points(busy, quiet, alone, processes)


def cost(side):
    """Median milliseconds of a revocation without other load."""
    caller, *tokens = client.tokens(side.keystone, 2 + _ALONE)
    times = [
        client.milliseconds(client.revoke, side.keystone, caller, token)
        for token in tokens
    ]
    return statistics.median(times[1:])


def measure(side, requests, rate, seconds):
    """Measure a time slice.

    :param requests: one for each client
    :returns: the result of :meth:`bench.load.Answers.measure` of the
        validations, and ``revoked`` (per second), ``revoke_p50``,
        ``revoke_p99`` (ms) and ``revoker_cpu`` (processor seconds per second)
    """
    side.delete_events()
    load.exactly(side.url, requests * 3, CLIENTS)
    with background.revocations(side.keystone, rate, seconds) as revoked:
        validated = load.during(side.url, requests, seconds, CLIENTS)
    # Wait until the server has finished the requests in progress.
    load.exactly(side.url, requests, CLIENTS)
    return {
        **validated.measure(),
        'revoked': revoked['rate'],
        'revoke_p50': revoked['p50'],
        'revoke_p99': revoked['p99'],
        'revoker_cpu': revoked['cpu'],
    }


def points(busy, quiet, alone, processes):
    """Summarize the rounds.

    :param busy: a :class:`bench.runs.Runs` by target rate of revocations
    :param quiet: the same for the adjacent slices without revocations
    :param alone: {side: milliseconds of a revocation without other load}
    :param processes: number of processes of a side; None if unknown
    :returns: the result of :meth:`bench.runs.Runs.points`, the first one
        without revocations, each side's runs divided by the adjacent ones,
        with the medians of the fields about revocations; and for each side
        ``loss`` (share of the side's own validations), ``requests`` (of both
        kinds per second), ``alone`` (ms), and ``work`` (share of the
        processes' time that the revocations take at that cost; None if
        unknown)
    """
    idle = {
        side: [run for runs in quiet.measured.values() for run in runs[side]]
        for side in alone
    }
    busy.measured = {(0,): idle, **busy.measured}
    points = busy.points(
        references=lambda about: quiet.measured.get(about, idle),
        medians=('revoked', 'revoke_p50', 'revoke_p99', 'revoker_cpu'),
        ratio=False,
    )
    for point in points:
        for side, milliseconds in alone.items():
            revoked = point[side]['revoked']
            point[side].update(
                loss=round(1 - point[side]['of_own_0'], 4),
                requests=point[side]['rate'] + revoked,
                alone=milliseconds,
                work=processes and revoked * milliseconds / 1000 / processes,
            )
    return points


def _loss_spread(ratios):
    losses = [100 - 100 * ratio for ratio in ratios[::-1]]
    return table.spread(losses, '{:.1f}')


text = table.of_sides(
    ('target/s', 'asked'), table.SIDE, ('revoked/s', 'revoked', '{:.1f}'),
    ('validated/s', 'rate', '{:.1f}'), ('loss', 'loss', table.percent),
    ('spread', 'of_own_0_spread', _loss_spread),
    ('work', 'work', table.percent),
    *table.times(), ('revoke p99 ms', 'revoke_p99', '{:.0f}'),
    ('revoker CPU', 'revoker_cpu', table.percent), table.RUNS,
)  # fmt: skip
