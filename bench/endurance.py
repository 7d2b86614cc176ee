# SPDX-License-Identifier: Apache-2.0

"""Response times and memory under a load that lasts.

Each point is a slice of time. The first one is that at the full rate.
"""

import statistics

from bench import client
from bench import events
from bench import load
from bench import memory
from bench import population
from bench import rig
from bench import rounds
from bench import runs
from bench import table
from bench import writing
from patchset import progress

TITLE = 'Response times and memory under a load that lasts'
SLICES = {'small': 4, 'full': 60}
SECONDS = {'small': 15, 'full': 60}  # of a slice
TOKENS, USERS, CLIENTS = 500, 20, 16
SHARE = 0.7
_EXPIRED = 4  # events per second
_WRITES = (*rounds.STEADY.values(), rounds.token)
_MIB = 2**20
# No token expires meanwhile.
_OPTIONS = {'token': {'expiration': 4 * 60 * 60}}


def run(plan):
    """Run the experiment; see :mod:`bench.experiments`."""
    found = runs.Runs('slice')
    seconds = SECONDS[plan.scale]
    with rig.both(plan, _OPTIONS) as sides:
        for side in reversed(sides):
            progress.step(f'{side.name}: {TOKENS} tokens')
            cloud = Cloud(side)
            full = cloud.measure(seconds)
            found.add(side, (0,), full)
            rate = SHARE * full['rate']
            for number in range(SLICES[plan.scale]):
                found.add(side, (1 + number,), cloud.measure(seconds, rate))
    return found.points(medians=('pss', 'written'))


class Cloud:
    """The tokens of one side, and who writes.

    :param side: a :class:`bench.rig.Side`
    """

    def __init__(self, side):
        self._side = side
        (service,) = population.accounts(side.keystone, 1, 'service')
        writer, *users = population.accounts(side.keystone, 1 + USERS)
        self._requests = load.validations(
            population.tokens(users, TOKENS), client.token(service)
        )
        self._writes = [make(side.keystone, writer) for make in _WRITES]

    def _write(self, keystone):
        for write in self._writes:
            write(keystone)

    def measure(self, seconds, rate=0) -> dict:
        """One slice of time.

        :param rate: validations per second; 0 is as many as are answered
        :returns: dict with what :meth:`bench.load.Answers.measure` gives,
            ``written`` (rounds per second), and ``pss`` (MiB of a process)
        """
        events.add_expired(self._side, _EXPIRED * seconds)
        with writing.writing(
            self._side.keystone, self._write, seconds, rate=1
        ) as answer:
            found = load.during(
                self._side.url, self._requests, seconds, CLIENTS, rate
            )
        size = statistics.mean(memory.of_workers(self._side)['pss'])
        return {
            **found.measure(),
            'written': answer['rate'],
            'pss': round(size / _MIB, 2),
        }


#: The points as a table.
text = table.of_sides(
    'slice', table.SIDE, table.RATE, *table.BY_STOCK, *table.times(),
    ('writes/s', 'written', table.rate), ('MiB each', 'pss', '{:.1f}'),
)  # fmt: skip
