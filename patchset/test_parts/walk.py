# SPDX-License-Identifier: Apache-2.0

"""A random walk: the same changes on stock and patched servers, compared.

A sequence of random changes, with the seed ``--seed``, is applied to a
stock and to a patched cloud. After each step all tokens of a pool are
validated through every process. Each step counts as a test. The first that
shows a difference ends the walk; then the shortest sequence that reproduces it
is searched for and printed. A walk whose answers do not come from the
validation cache fails as well.
"""

import time

from patchset import progress
from patchset.test_parts import results
from patchset.walk import minimise
from patchset.walk import rig as rigs
from patchset.walk import walk

PACKAGES = ('test', 'integration')
CHAPTER = 120  # seconds after which a new story begins
FEW = 100  # answers: too few for a cache to matter
PATIENCE = 300  # seconds to look for a shorter story


def run(options):
    """Run the part."""
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
    one = walk.Walk(rig)
    try:
        with progress.doing(lambda: one.progress(seed)):
            found = one.go(seed, seconds, without)
    finally:
        one.close()
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
            again = walk.Walk(rig)
            try:
                found = again.retell(some)
            finally:
                again.close()
        return difference.kind in [one.kind for one in found]

    if not fails(steps):
        progress.say('\nNot reproduced. The last steps were:')
        steps = steps[-20:]
    else:
        steps = minimise.shortest(
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
