# SPDX-License-Identifier: Apache-2.0

"""Validations of a large number of tokens, while the cloud changes.

In a second, these are more than any client requests twice.
"""

from bench import background
from bench import client
from bench import load
from bench import runs
from bench import table
from bench import testbed
from patchset import progress

TITLE = 'Validation of many tokens during changes'
TOKENS = {'small': 500, 'full': 10_000}
SECONDS = {'small': 2, 'full': 10}
REPEATS = {'small': 3, 'full': 3}
LOADS = ('quiet', 'changing')
REVOKED = 10  # per second
CLIENTS = 20
_SLOWEST = 200  # validations per second of the slower side, nothing cached


def run(plan):
    """Run the experiment; see :mod:`bench.experiments`."""
    count = TOKENS[plan.scale]
    results = runs.Runs('kind', 'tokens')
    with testbed.both(plan) as sides:
        progress.step(f'{count} tokens on each side, each validated')
        tokens = testbed.for_each_side(
            lambda side: client.rescoped_tokens(side.keystone, count), sides
        )
        for side in sides:
            meet(side, tokens[side])
        for name, side in testbed.rounds(sides, REPEATS[plan.scale], LOADS):
            results.measure(
                side, (name, count), measure, side, tokens[side], name,
                SECONDS[plan.scale],
            )  # fmt: skip
    return results.points()


def validate(side, tokens, seconds):
    """Validate tokens in turns; the first one asks."""
    caller, *subjects = tokens
    requests = load.validations(subjects, caller)
    return load.during(side.url, requests, seconds, CLIENTS).measure()


def meet(side, tokens):
    """Validate tokens in turns until each process has met each."""
    validate(side, tokens, -(-testbed.PROCESSES * len(tokens) // _SLOWEST))


def measure(side, tokens, name, seconds):
    """One slice of time.

    :param tokens: what :func:`bench.client.rescoped_tokens` gave
    :param name: one of :data:`LOADS`
    :returns: the result of :meth:`bench.load.Answers.measure`
    """
    if name == 'quiet':
        return validate(side, tokens, seconds)
    caller = client.token(side.keystone)

    def create():
        client.create_project(side.keystone, caller)

    with (
        background.revocations(side.keystone, REVOKED, seconds),
        background.writes(create, seconds, rate=1),
    ):
        return validate(side, tokens, seconds)


#: The points as a table.
text = table.of_sides(
    ('load', 'kind'), 'tokens', table.SIDE, table.RATE, *table.RATIO,
    *table.times(), table.RUNS,
)  # fmt: skip
