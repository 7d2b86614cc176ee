# SPDX-License-Identifier: Apache-2.0

"""Response times and memory under sustained load.

Each point is a time slice. The first one is at the maximum rate.
"""

import statistics

from bench import background
from bench import events
from bench import load
from bench import memory
from bench import population
from bench import runs
from bench import table
from bench import testbed
from bench import writes
from patchset import progress

TITLE = 'Response times and memory under sustained load'
SLICES = {
    'small': {'patched': 4, 'stock': 4},
    'full': {'patched': 60, 'stock': 10},
}
SECONDS = {'small': 15, 'full': 60}  # of a slice
TOKENS, USERS, CLIENTS = 500, 20, 16
SHARE = 0.7
_EXPIRED = 4  # events per second
_WRITES = (*writes.AT_RATE.values(), writes.token)
_MIB = 2**20
# No token expires during the experiment.
_OPTIONS = {'token': {'expiration': 4 * 60 * 60}}


def run(plan):
    """Run the experiment; see :mod:`bench.experiments`."""
    results = runs.Runs('slice')
    seconds = SECONDS[plan.scale]
    with testbed.both(plan, _OPTIONS) as sides:
        for side in reversed(sides):
            progress.step(f'{side.name}: creating {TOKENS} tokens')
            requests = population.validations(side.keystone, USERS, TOKENS)
            (writer,) = population.accounts(side.keystone, 1)
            rounds = [make(side.keystone, writer) for make in _WRITES]
            rate = 0
            for number in range(1 + SLICES[plan.scale][side.name]):
                run = measure(side, requests, rounds, seconds, rate)
                results.add(side, (number,), run)
                rate = rate or SHARE * run['rate']
    return results.points(medians=('pss', 'written'))


def measure(side, requests, rounds, seconds, rate=0) -> dict:
    """Measure a time slice.

    :param requests: validations, see :mod:`bench.load`
    :param rounds: results of the functions of :mod:`bench.writes`
    :param rate: validations per second; 0 is the maximum
    :returns: the result of :meth:`bench.load.Answers.measure`,
        ``written`` (rounds per second), and ``pss`` (MiB of a process)
    """

    def write():
        for send_round in rounds:
            send_round()

    events.add_expired(side, _EXPIRED * seconds)
    with background.writes(write, seconds, rate=1) as written:
        answers = load.during(side.url, requests, seconds, CLIENTS, rate)
    size = statistics.mean(memory.of_workers(side)['pss'])
    return {
        **answers.measure(),
        'written': written['rate'],
        'pss': round(size / _MIB, 2),
    }


text = table.of_sides(
    'slice', table.SIDE, table.RATE, *table.RATIO, *table.times(),
    ('writes/s', 'written', table.rate), ('MiB each', 'pss', '{:.1f}'),
)  # fmt: skip
