# SPDX-License-Identifier: Apache-2.0

"""Random changes, compared on stock and patched servers.

A sequence of random changes, with the seed ``--seed``, is applied to a stock
and to a patched cloud. After each step all tokens of a pool are validated
through every process, and some resources read. Each step counts as a test. The
first that shows a difference ends the walk; then the shortest sequence that
reproduces it is searched for and printed. A walk whose answers do not come
from the validation cache fails as well.
"""

import contextlib
import time

from patchset import progress
from patchset.test_parts import results
from patchset.walk import readings
from patchset.walk import testbed as testbeds
from patchset.walk import walk

PACKAGES = ('test', 'integration')
SEQUENCE = 120  # seconds after which a new sequence begins
FEW = 100  # responses: too few to require cache hits
TIMEOUT = 300  # seconds to search for a shorter sequence


def run(options):
    total, seed = results.Result(), options.seed
    with testbeds.Testbed(
        options.pin, options.cache, options.provider
    ) as testbed:
        end = time.monotonic() + options.seconds
        while True:
            left = end - time.monotonic()
            result = _run_sequence(
                testbed, seed, min(left, SEQUENCE), options.without
            )
            total += result
            # The start of the servers would take most of a short rest.
            if result.failed or end - time.monotonic() < SEQUENCE / 4:
                return total
            seed += 1
            testbed.reset()


def _run_sequence(testbed, seed, seconds, without):
    """Run a sequence; a :class:`patchset.test_parts.results.Result`."""
    with (
        contextlib.closing(walk.Walk(testbed)) as one,
        progress.doing(lambda: one.progress(seed)),
    ):
        differences = one.run(seed, seconds, without)
    progress.step(one.progress(seed))
    for topic, number in sorted(one.explained.items()):
        progress.step(f'{number} differences are due to topic {topic}')
    hits = testbed.counters.counts['hit']
    steps = len(one.steps)
    if not differences and (one.accepted < FEW or hits > one.accepted / 4):
        return results.Result(passed=steps)
    progress.say(f'FAILED walk, seed {seed}, step {steps}\n')
    if not differences:
        progress.say(f'Only {hits} answers come from the validation cache.\n')
    for difference in differences:
        progress.say(str(difference))
    if differences:
        _report(testbed, one.steps, differences[0])
    return results.Result(passed=steps - 1, failed=1)


def _report(testbed, steps, difference):
    """Print the shortest sequence that shows a difference."""
    deadline = time.monotonic() + TIMEOUT
    one = difference.subject
    is_reading = isinstance(one, readings.Request) and not one.subject
    also = [one] if is_reading else []

    def fails(some):
        with progress.stage(f'trying {len(some)} steps'):
            testbed.reset()
            with contextlib.closing(walk.Walk(testbed, also)) as again:
                differences = again.perform_all(some)
        return difference.kind in [one.kind for one in differences]

    if not fails(steps):
        progress.say('\nNot reproduced. The last steps were:')
        steps = steps[-20:]
    else:
        steps = shortest(
            steps, fails, lambda: time.monotonic() > deadline, _groups(steps)
        )
        progress.say(f'\nThe shortest reproduction has {len(steps)} steps:')
    for number, step in enumerate(steps, 1):
        progress.say(f'{number:4d}. {step}')
    progress.say('')


def _groups(steps):
    """Groups of steps for the search: all that affect one resource."""
    names = sorted(set().union(*(step.names for step in steps)))
    return [lambda step, name=name: name in step.names for name in names]


def shortest(items, fails, expired, groups=()):
    """A part of a list, in its order, that fails too.

    Delta debugging (Zeller and Hildebrandt, 2002): parts are left out, large
    ones first, for as long as the rest fails. Without a bound, no single item
    of the result can be left out.

    :param items: what fails: a list
    :param fails: function of a list that tells whether it fails
    :param expired: function that tells whether the time is over; the best
        list so far is the result then
    :param groups: functions of an item; all items for which one is true are
        left out together, before anything else
    :returns: a list
    """
    for group in groups:
        rest = [one for one in items if not group(one)]
        if len(rest) < len(items) and not expired() and fails(rest):
            items = rest
    size, shorter = len(items), True
    while shorter or size > 1:
        size, shorter = max(size // 2, 1), False
        for start in reversed(range(0, len(items), size)):
            rest = items[:start] + items[start + size :]
            if not expired() and fails(rest):
                items, shorter = rest, True
    return items
