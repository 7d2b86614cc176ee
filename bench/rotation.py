# SPDX-License-Identifier: Apache-2.0

"""Validations of a large number of tokens, without and with changes."""

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
REVOCATIONS = 10  # per second
CLIENTS = 20
_MIN_RATE = 200  # validations per second of the slower side without cache


def run(plan):
    """Run the experiment; see :mod:`bench.experiments`."""
    count = TOKENS[plan.scale]
    results = runs.Runs('kind', 'tokens')
    with testbed.both(plan) as sides:
        progress.step(f'issuing and validating {count} tokens on each side')
        tokens = testbed.for_each_side(
            lambda side: client.rescoped_tokens(side.keystone, count), sides
        )
        for side in sides:
            validate_in_each_process(side, tokens[side])
        for name, side in testbed.rounds(sides, REPEATS[plan.scale], LOADS):
            results.measure(
                side, (name, count), measure, side, tokens[side], name,
                SECONDS[plan.scale],
            )  # fmt: skip
    return results.points()


def validate(side, tokens, seconds):
    """Validate tokens in turn, with the first one as the caller."""
    caller, *subjects = tokens
    requests = load.validations(subjects, caller)
    return load.during(side.url, requests, seconds, CLIENTS).measure()


def validate_in_each_process(side, tokens):
    """Validate tokens in turn, until each process has validated each."""
    validate(side, tokens, -(-testbed.PROCESSES * len(tokens) // _MIN_RATE))


def measure(side, tokens, name, seconds):
    """Measure a time slice.

    :param tokens: the result of :func:`bench.client.rescoped_tokens`
    :param name: one of :data:`LOADS`
    :returns: the result of :meth:`bench.load.Answers.measure`
    """
    if name == 'quiet':
        return validate(side, tokens, seconds)
    caller = client.token(side.keystone)

    def create():
        client.create_project(side.keystone, caller)

    with (
        background.revocations(side.keystone, REVOCATIONS, seconds),
        background.writes(create, seconds, rate=1),
    ):
        return validate(side, tokens, seconds)


text = table.of_sides(
    ('load', 'kind'), 'tokens', table.SIDE, table.RATE, *table.RATIO,
    *table.times(), table.RUNS,
)  # fmt: skip
