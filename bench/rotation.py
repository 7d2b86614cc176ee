# SPDX-License-Identifier: Apache-2.0

"""Validations of a large number of tokens, while the cloud changes.

20 clients validate tokens in turns, more than any client requests twice in a
second. ``quiet``: no other load. ``changing``: concurrently, 10 tokens per
second are revoked and a project is created each second, as in a cloud that
runs tests. Before the first slice, all tokens are validated by each process.

Sides alternate from round to round, and the patched rate is divided by stock's
rate of the same round. The results are medians of the rounds.
"""

import dataclasses

from bench import client
from bench import rig
from bench import summary
from bench import table
from bench import turns
from bench import writing
from patchset import progress

TITLE = 'Very many tokens, in a cloud that changes'
TOKENS = {'small': 500, 'full': 10_000}
SECONDS = {'small': 2, 'full': 10}
REPEATS = {'small': 3, 'full': 3}
LOADS = ('quiet', 'changing')
REVOKED = 10  # per second
CLIENTS = 20
_SLOWEST = 200  # validations per second of the slower side, nothing cached


def run(plan):
    """Run the experiment.

    :param plan: a :class:`bench.plan.Plan`
    :returns: what :func:`points` gives
    """
    count, repeats = TOKENS[plan.scale], REPEATS[plan.scale]
    measured, tokens = {}, {}
    with rig.both(plan) as sides:
        progress.step(f'{count} tokens on each side, each validated')

        def issue(side):
            tokens[side.name] = client.exchanged(side.keystone, count)

        rig.at_once(issue, sides)
        for side in sides:
            meet(side, tokens[side.name])
        for number in range(repeats):
            for name in LOADS:
                for side in rig.turn(sides, number):
                    one = measure(
                        side, tokens[side.name], name, SECONDS[plan.scale]
                    )
                    measured.setdefault((side.name, name), []).append(
                        dataclasses.asdict(one)
                    )
                    progress.step(
                        f'{number + 1} of {repeats}: {name}, {side.name}: '
                        f'{one.rate:.1f} validations/s'
                    )
    return points(measured, count)


def validate(side, tokens, seconds):
    """Validate tokens in turns; the first one asks."""
    caller, *subjects = tokens
    return turns.validate(side.url, caller, subjects, seconds, CLIENTS)


def meet(side, tokens):
    """Validate tokens in turns until each process has met each."""
    validate(side, tokens, -(-rig.PROCESSES * len(tokens) // _SLOWEST))


def measure(side, tokens, name, seconds):
    """One slice of time.

    :param tokens: what :func:`bench.client.exchanged` gave
    :param name: one of :data:`LOADS`
    :returns: a :class:`bench.load.Measure`
    """
    if name == 'quiet':
        return validate(side, tokens, seconds)
    caller = client.token(side.keystone)
    body = {'project': {'name': '<unique>', 'domain_id': 'default'}}
    project = writing.step('POST', '/projects', caller, body)
    with (
        writing.revoking(side.keystone, REVOKED, seconds),
        writing.writing(side.keystone, [project], seconds, rate=1),
    ):
        return validate(side, tokens, seconds)


def points(measured, count):
    """Sum up the rounds.

    :param measured: {(side, load): list with the fields of
        :class:`bench.load.Measure` for each round}
    :param count: how many tokens take turns
    :returns: a list of dicts, one per load: ``kind``, ``tokens``, and what
        :func:`bench.summary.compared` gives
    """
    found = []
    for name in LOADS:
        runs = {side: measured[side, name] for side in ('stock', 'patched')}
        found.append({'kind': name, 'tokens': count, **summary.compared(runs)})
    return found


def text(found):
    """The points as a table."""
    head = [
        'load', 'tokens', 'side', '1/s', 'by stock', 'spread', 'p50 ms',
        'p99 ms', 'runs',
    ]  # fmt: skip

    def cells(point, side, one):
        return [
            point['kind'], point['tokens'], side,
            table.rate(one['rate']),
            *table.by_stock(point, side),
            f'{one["p50"]:.0f}', f'{one["p99"]:.0f}', one['repeats'],
        ]  # fmt: skip

    return table.of_sides(head, found, cells)
