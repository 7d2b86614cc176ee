# SPDX-License-Identifier: Apache-2.0

"""Validations during unrelated writes, as in a cloud in use.

The writes are those of :mod:`bench.writes`: at a constant rate, or in a loop
by one ordinary user. Two clients validate, or one during a loop, so that each
client has a process of its own and the rest is the cost of the writes. The
rate is compared with the side's own rate without writes, from a slice of the
same round, and with stock's rate from the slice before or after it.
"""

import contextlib

from bench import background
from bench import load
from bench import population
from bench import runs
from bench import table
from bench import testbed
from bench import writes
from patchset import progress

TITLE = 'Cost of unrelated writes for validations'
CASES = (*writes.AT_RATE, *writes.IN_LOOP)
PACES = {'small': (5,), 'full': (0.2, 1, 5)}  # rounds per second
LOOP = 'loop'  # pace of the writes of one ordinary user
QUIET = 'quiet'
SECONDS = {'small': 1, 'full': 2}  # of a slice
REPEATS = {'small': 1, 'full': 3}
TOKENS, USERS, CLIENTS = 50, 20, 2
# The loop is a client as well.
_DURING_LOOP = 1
_WARM = 2  # validations of each token


def run(plan):
    """Run the experiment; see :mod:`bench.experiments`."""
    results = runs.Runs('case', 'pace')
    with testbed.both(plan) as sides:
        progress.step(
            f'creating {USERS} users and {TOKENS} tokens on each side'
        )
        clouds = testbed.for_each_side(prepare, sides)
        for _ in range(REPEATS[plan.scale]):
            for case in plan.cases or CASES:
                for side in sides:
                    side.delete_events()
                paces = (QUIET, *paces_of(case, plan))
                for pace, side in testbed.rounds(sides, 1, paces):
                    results.measure(
                        side, (case, pace_name(pace)), measure, side,
                        *clouds[side], case, pace, SECONDS[plan.scale],
                    )  # fmt: skip
    return points(results)


def points(results):
    """The result of :meth:`bench.runs.Runs.points`, relative to quiet runs."""
    return results.points(
        references=lambda values: results.measured[values[0], QUIET],
        medians=('written', 'write_p50', 'writer_cpu'),
    )


def paces_of(case, plan):
    """The paces of a case: rounds per second, or :data:`LOOP`."""
    if case in writes.IN_LOOP:
        return (LOOP,)
    return plan.rates or PACES[plan.scale]


def pace_name(pace):
    """The name of a pace in results."""
    return pace if isinstance(pace, str) else f'{pace:g}/s'


def prepare(side):
    """Create the users and tokens of a side.

    :returns: (validations of the tokens, see :mod:`bench.load`; {case: account
        of the user that writes, whose tokens are not validated})
    """
    requests = population.validations(side.keystone, USERS, TOKENS)
    writers = population.accounts(side.keystone, len(CASES))
    return requests, dict(zip(CASES, writers, strict=True))


def measure(side, requests, writers, case, pace, seconds) -> dict:
    """Measure a time slice.

    At a low rate it is longer, so that it contains a round of writes.

    :param requests: see :func:`prepare`, like ``writers``
    :param case: one of :data:`CASES`
    :param pace: see :func:`paces_of`, or :data:`QUIET`
    :returns: the result of :meth:`bench.load.Answers.measure`,
        ``written`` (rounds per second), ``write_p50`` (milliseconds of
        a round) and ``writer_cpu`` (CPU seconds per second)
    """
    load.once([side.url], _WARM * requests, CLIENTS)
    clients = _DURING_LOOP if case in writes.IN_LOOP else CLIENTS
    writing = contextlib.nullcontext(background.NO_WRITES)
    if pace != QUIET:
        rate = None if pace == LOOP else pace
        if rate:
            seconds = max(seconds, round(1 / rate))
        make = {**writes.AT_RATE, **writes.IN_LOOP}[case]
        write = make(side.keystone, writers[case])
        writing = background.writes(write, seconds, rate)
    with writing as written:
        answers = load.during(side.url, requests, seconds, clients)
    return {
        **answers.measure(),
        'written': written['rate'],
        'write_p50': written['p50'],
        'writer_cpu': written['cpu'],
    }


text = table.of_sides(
    ('writes', 'case'), 'pace', table.SIDE,
    ('done/s', 'written', table.rate), table.RATE, *table.RATIO,
    ('of quiet', 'of_own_0', table.percent),
    ('spread', 'of_own_0_spread', table.percents),
    ('p99 ms', 'p99', '{:.1f}'), ('round ms', 'write_p50', '{:.0f}'),
    table.RUNS,
)  # fmt: skip
