# SPDX-License-Identifier: Apache-2.0

"""Validations of some tokens while others are revoked.

20 clients validate one token each. Concurrently, other tokens, which were
issued before, are revoked at a steady rate. The loss of a side is
relative to its own rate without revocations, measured in an adjacent slice: a
machine can become a quarter faster or slower within a minute. The order of the
two alternates, rounds are repeated, and the results are medians.

The loss is the complete effect on the clients: the effect on other requests,
such as tokens that are loaded again after a cache was flushed, and the work of
the revocations themselves, which are requests to the same processes on the
same cores. To distinguish the two, the cost of a revocation without other load
is measured: ``work`` is the share of the processes' time that the revocations
of a point use at that cost. It is an estimate, and is never subtracted from
the loss. Sending the revocations has the same overhead on both sides; the CPU
time of this program is reported as well.

Before each slice, the table and the cache are emptied and the clients' tokens
are validated once. Events that are recorded in a slice stay until its end.
"""

import statistics
import time

from bench import client
from bench import load
from bench import rig
from bench import summary
from bench import table
from bench import writing
from patchset import progress

TITLE = 'Cost of revocations for tokens that are not revoked'
# Revocations per second; each is compared with none.
RATES = {'small': (10, 50), 'full': (1, 5, 10, 20, 50)}
SECONDS = {'small': 2, 'full': 3}  # of a slice
REPEATS = {'small': 3, 'full': 10}
CLIENTS = 20
_ALONE = 20  # revocations


def footprint(scale):
    """How many tokens a run issues at an existing Keystone, and revokes."""
    rates = RATES[scale]
    revoked = REPEATS[scale] * SECONDS[scale] * sum(rates) + _ALONE + 1
    callers = REPEATS[scale] * len(rates) + 1
    return REPEATS[scale] * CLIENTS + callers + revoked, revoked


def run(plan):
    """Run the experiment.

    :param plan: a :class:`bench.plan.Plan`
    :returns: a list of dicts, one per rate, the first without revocations:
        ``asked`` (revocations per second), and for each side what
        :func:`side_point` gives
    """
    seconds, repeats = SECONDS[plan.scale], REPEATS[plan.scale]
    measured, alone = {}, {}
    # How many processes an existing Keystone has is not known.
    processes = None if plan.against else rig.PROCESSES
    with rig.sides(plan) as sides:
        for side in sides:
            alone[side.name] = cost(side)
        for number in range(repeats):
            headers = {
                side.name: client.validators(side.keystone, CLIENTS)
                for side in sides
            }
            for rate in RATES[plan.scale]:
                for side in rig.turn(sides, number):
                    with_it, without = pair = _pair(
                        side, headers[side.name], rate, seconds, number
                    )
                    measured.setdefault((side.name, rate), []).append(pair)
                    progress.step(
                        f'{number + 1} of {repeats}: {side.name}: '
                        f'{with_it["rate"]:.1f} validations/s with '
                        f'{with_it["revoked"]:.1f} of {rate} revocations/s, '
                        f'{without["rate"]:.1f} without'
                    )
    return points(measured, alone, processes)


def _pair(side, headers, rate, seconds, number):
    """Two slices of time, with revocations and without."""
    found = {
        one: measure(side, headers, one, seconds)
        for one in rig.turn((0, rate), number)
    }
    return found[rate], found[0]


def cost(side):
    """Milliseconds of one revocation that nothing competes with."""
    caller, *doomed = client.tokens(side.keystone, 2 + _ALONE)
    times = []
    for token in doomed:
        start = time.monotonic()
        client.revoke(side.keystone, caller, token)
        times.append(1000 * (time.monotonic() - start))
    return statistics.median(times[1:])


def measure(side, headers, rate, seconds):
    """One slice of time.

    :param headers: what :func:`bench.client.validators` gave
    :returns: dict with ``rate``, ``p50`` and ``p99`` of the validations, and
        ``revoked`` (per second), ``revoke_p50``, ``revoke_p99`` (ms) and
        ``revoker_cpu`` (processor seconds per second)
    """
    side.forget_events()
    load.each(side.url, headers, 3)
    with writing.revoking(side.keystone, rate, seconds) as revoked:
        validated = load.together(side.url, headers, seconds)
    # What the clients no longer wait for is not left to the other side.
    load.each(side.url, headers, 1)
    return {
        'rate': validated.rate,
        'p50': validated.p50,
        'p99': validated.p99,
        'requests': validated.requests,
        'steal': validated.steal,
        'revoked': revoked['rate'],
        'revoke_p50': revoked['p50'],
        'revoke_p99': revoked['p99'],
        'revoker_cpu': revoked['cpu'],
    }


def points(measured, alone, processes):
    """Sum up the rounds.

    :param measured: {(side, asked): for each round a pair of what
        :func:`measure` gave, the second one without revocations}
    :param alone: {side: milliseconds of a revocation by itself}
    :param processes: how many processes a side has; None if unknown
    :returns: a list of dicts as :func:`run` describes them
    """
    sides = summary.sides(alone)
    idle = {
        side: [
            (without, without)
            for (name, _), pairs in measured.items()
            if name == side
            for _, without in pairs
        ]
        for side in sides
    }
    found = []
    for rate in dict.fromkeys((0, *(asked for _, asked in measured))):
        point = {'asked': rate}
        for side in sides:
            pairs = measured[side, rate] if rate else idle[side]
            point[side] = side_point(pairs, alone[side], processes)
        found.append(point)
    return found


def side_point(pairs, alone, processes):
    """Sum up one side at one rate.

    :param pairs: for each round what :func:`measure` gave, and the same of
        the slice without revocations beside it
    :returns: what :func:`bench.summary.of` gives, and ``loss`` (share of the
        side's own validations without revocations), ``revoked`` (per
        second), ``requests`` (of both kinds per second), ``alone`` (ms of one
        revocation by itself), ``work`` (share of the processes' time that
        the revocations take at that cost; None if unknown), and the medians of
        ``revoke_p50``, ``revoke_p99`` and ``revoker_cpu``
    """
    runs, idle = zip(*pairs, strict=True)
    found = summary.of(runs, idle)
    revoked = _median(runs, 'revoked')
    found.update(
        loss=round(1 - found['of_own_0'], 4),
        revoked=revoked,
        requests=found['rate'] + revoked,
        alone=alone,
        work=processes and revoked * alone / 1000 / processes,
        revoke_p50=_median(runs, 'revoke_p50'),
        revoke_p99=_median(runs, 'revoke_p99'),
        revoker_cpu=_median(runs, 'revoker_cpu'),
    )
    return found


def _median(runs, name):
    values = [run[name] for run in runs if run[name] is not None]
    return statistics.median(values) if values else None


def text(found):
    """The points as a table."""
    head = [
        'asked/s', 'side', 'revoked/s', 'validated/s', 'loss', 'spread',
        'work', 'p50 ms', 'p99 ms', 'revoke p99 ms', 'revoker CPU', 'runs',
    ]  # fmt: skip

    def cells(point, side, one):
        late = one['revoke_p99']
        return [
            point['asked'], side, f'{one["revoked"]:.1f}',
            f'{one["rate"]:.1f}', table.percent(one['loss']),
            table.spread(
                [100 - 100 * x for x in one['of_own_0_spread'][::-1]],
                '{:.1f}',
            ),
            table.percent(one['work']),
            f'{one["p50"]:.0f}', f'{one["p99"]:.0f}',
            '-' if late is None else f'{late:.0f}',
            table.percent(one['revoker_cpu']), one['repeats'],
        ]  # fmt: skip

    return table.of_sides(head, found, cells)
