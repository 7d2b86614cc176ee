# SPDX-License-Identifier: Apache-2.0

"""A random walk: the same changes on stock and patched servers, compared.

A sequence of random changes, with the seed ``--seed``, is applied to a
stock and to a patched cloud. After each step all tokens of a pool are
validated through every process. Each step counts as a test. The first that
shows a difference ends the walk; then the shortest sequence that reproduces it
is searched for and printed. A walk whose answers do not come from the
validation cache fails as well.
"""

import contextlib
import time

from patchset import progress
from patchset.test_parts import results
from patchset.walk import rig as rigs
from patchset.walk import walk

PACKAGES = ('test', 'integration')
CHAPTER = 120  # seconds after which a new story begins
FEW = 100  # answers: too few for a cache to matter
PATIENCE = 300  # seconds to look for a shorter story


def run(options):
    total, seed = results.Result(), options.seed
    with rigs.Rig(options.pin, options.cache) as rig:
        end = time.monotonic() + options.seconds
        while True:
            left = end - time.monotonic()
            result = _chapter(rig, seed, min(left, CHAPTER), options.without)
            total += result
            # What little is left would go by while the servers start.
            if result.failed or end - time.monotonic() < CHAPTER / 4:
                return total
            seed += 1
            rig.reset()


def _chapter(rig, seed, seconds, without):
    """Tell one story; a :class:`patchset.test_parts.results.Result`."""
    with (
        contextlib.closing(walk.Walk(rig)) as one,
        progress.doing(lambda: one.progress(seed)),
    ):
        found = one.go(seed, seconds, without)
    progress.step(one.progress(seed))
    for topic, number in sorted(one.excused.items()):
        progress.step(f'{number} differences are due to topic {topic}')
    hits = rig.counters.counts['hit']
    steps = len(one.told)
    if not found and (one.accepted < FEW or hits > one.accepted / 4):
        return results.Result(passed=steps)
    progress.say(f'FAILED walk, seed {seed}, step {steps}\n')
    if not found:
        progress.say(f'Only {hits} answers come from the validation cache.\n')
    for difference in found:
        progress.say(str(difference))
    if found:
        _report(rig, one.told, found[0])
    return results.Result(passed=steps - 1, failed=1)


def _report(rig, steps, difference):
    """Print the shortest story that shows a difference."""
    deadline = time.monotonic() + PATIENCE

    def fails(some):
        with progress.stage(f'trying {len(some)} steps'):
            rig.reset()
            with contextlib.closing(walk.Walk(rig)) as again:
                found = again.retell(some)
        return difference.kind in [one.kind for one in found]

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
    """Steps that may go together: all that are about one thing."""
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
    size = max(len(items) // 2, 1)
    while not expired():
        items, shorter = _without_parts(items, size, fails, expired)
        if size == 1 and not shorter:
            break
        size = max(size // 2, 1)
    return items


def _without_parts(items, size, fails, expired):
    """Omit each part of ``size`` items, if the rest still fails.

    :returns: the list, and whether it became shorter
    """
    shorter = False
    start = max(len(items) - size, 0)
    while items and not expired():
        rest = items[:start] + items[start + size :]
        if len(rest) < len(items) and fails(rest):
            items, shorter = rest, True
        if start == 0:
            break
        start = max(start - size, 0)
    return items, shorter
