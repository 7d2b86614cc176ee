# SPDX-License-Identifier: Apache-2.0

"""Validations of some tokens while others are revoked.

The loss of a side is relative to its own rate without revocations, measured in
an adjacent slice: a machine can become a quarter faster or slower within a
minute. It is never corrected by ``work``, which is only an estimate.

Before each slice, the table and the cache are emptied and the clients' tokens
are validated once. Events that are recorded in a slice stay until its end.
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
    """How many tokens a run issues at an existing Keystone, and revokes."""
    rates = RATES[scale]
    revoked = REPEATS[scale] * SECONDS[scale] * sum(rates) + _ALONE + 1
    callers = REPEATS[scale] * len(rates) + 1
    return REPEATS[scale] * CLIENTS + callers + revoked, revoked


def run(plan):
    """Run the experiment; see :mod:`bench.experiments`."""
    busy, quiet = runs.Runs('asked'), runs.Runs('beside')
    # How many processes an existing Keystone has is not known.
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
                for (results, one), side in testbed.rounds(sides, 1, loads):
                    results.measure(
                        side, (rate,), measure, side, requests[side], one,
                        SECONDS[plan.scale],
                    )  # fmt: skip
    return points(busy, quiet, alone, processes)


def cost(side):
    """Milliseconds of one revocation that nothing competes with."""
    caller, *doomed = client.tokens(side.keystone, 2 + _ALONE)
    times = [
        client.milliseconds(client.revoke, side.keystone, caller, token)
        for token in doomed
    ]
    return statistics.median(times[1:])


def measure(side, requests, rate, seconds):
    """One slice of time.

    :param requests: one of each client
    :returns: the result of :meth:`bench.load.Answers.measure` of the
        validations, and ``revoked`` (per second), ``revoke_p50``,
        ``revoke_p99`` (ms) and ``revoker_cpu`` (processor seconds per second)
    """
    side.delete_events()
    load.exactly(side.url, requests * 3, CLIENTS)
    with background.revocations(side.keystone, rate, seconds) as revoked:
        validated = load.during(side.url, requests, seconds, CLIENTS)
    # What the clients no longer wait for is not left to the other side.
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

    :param busy: a :class:`bench.runs.Runs` by revocations asked for
    :param quiet: the same of the slices without revocations beside them
    :param alone: {side: milliseconds of a revocation by itself}
    :param processes: how many processes a side has; None if unknown
    :returns: the result of :meth:`bench.runs.Runs.points`, the first one
        without revocations, each side's runs against those beside them, with
        the medians of what :func:`measure` says of the revocations; and for
        each side ``loss`` (share of the side's own validations), ``requests``
        (of both kinds per second), ``alone`` (ms), and ``work`` (share of the
        processes' time that the revocations take at that cost; None if
        unknown)
    """
    idle = {
        side: [run for of in quiet.measured.values() for run in of[side]]
        for side in alone
    }
    busy.measured = {(0,): idle, **busy.measured}
    results = busy.points(
        references=lambda about: quiet.measured.get(about, idle),
        medians=('revoked', 'revoke_p50', 'revoke_p99', 'revoker_cpu'),
        ratio=False,
    )
    for point in results:
        for side, of in alone.items():
            revoked = point[side]['revoked']
            point[side].update(
                loss=round(1 - point[side]['of_own_0'], 4),
                requests=point[side]['rate'] + revoked,
                alone=of,
                work=processes and revoked * of / 1000 / processes,
            )
    return results


def _lost(shares):
    lost = [100 - 100 * share for share in shares[::-1]]
    return table.spread(lost, '{:.1f}')


#: The points as a table.
text = table.of_sides(
    ('target/s', 'asked'), table.SIDE, ('revoked/s', 'revoked', '{:.1f}'),
    ('validated/s', 'rate', '{:.1f}'), ('loss', 'loss', table.percent),
    ('spread', 'of_own_0_spread', _lost), ('work', 'work', table.percent),
    *table.times(), ('revoke p99 ms', 'revoke_p99', '{:.0f}'),
    ('revoker CPU', 'revoker_cpu', table.percent), table.RUNS,
)  # fmt: skip
