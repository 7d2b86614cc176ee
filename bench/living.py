# SPDX-License-Identifier: Apache-2.0

"""Validations during unrelated writes, as in a cloud in use.

Two clients validate 50 tokens in turns, of 20 users in five projects; the
caller is a service user. Concurrently, changes are made that do not concern
these tokens, at a steady rate (:data:`PACES` per second):

``grants``
    A user is created, granted a role on a project, loses it, and is deleted.
``users``
    A user is created, disabled, and deleted.
``credentials``
    A user creates and deletes an application credential.
``projects``
    The description of a project is changed.

Alternatively, one ordinary user makes changes in a loop, as fast as possible:

``own-ec2``, ``own-application``
    An EC2 credential, or an application credential, is created and deleted.
``own-token``
    A token is issued for a password, and revoked.
``own-password``
    The password is changed twice.

The rate is compared with the side's own rate without writes, from a slice of
the same round, and with stock's rate from the slice before or after it. The
rate of the writes is the same on both sides; the rate that was reached is
reported. The events left by one kind of writes are removed before the next.
Before each slice, all tokens are validated.
"""

import dataclasses
import statistics

from bench import client
from bench import population
from bench import rig
from bench import rounds
from bench import summary
from bench import table
from bench import turns
from bench import writing
from patchset import progress

TITLE = 'Cost of unrelated writes for validations'
CASES = (*rounds.STEADY, *rounds.OWN)
PACES = {'small': (5,), 'full': (0.2, 1, 5)}  # rounds per second
LOOP = 'loop'  # the pace of those of one user's own
QUIET = 'quiet'
SECONDS = {'small': 1, 'full': 2}  # of a slice
REPEATS = {'small': 1, 'full': 3}
TOKENS, USERS, CLIENTS = 50, 20, 2
_SIDES = ('stock', 'patched')
_WARM = 2  # validations of each token


def run(plan):
    """Run the experiment.

    :param plan: a :class:`bench.plan.Plan`
    :returns: what :func:`points` gives
    """
    seconds, repeats = SECONDS[plan.scale], REPEATS[plan.scale]
    measured = {}
    with rig.both(plan) as sides:
        progress.step(f'{USERS} users with {TOKENS} tokens on each side')
        clouds = {}
        rig.at_once(
            lambda side: clouds.__setitem__(side.name, Cloud(side)), sides
        )
        for number in range(repeats):
            for case in plan.cases or CASES:
                for cloud in clouds.values():
                    cloud.forget()
                paces = (QUIET, *paces_of(case, plan))
                for slot, pace in enumerate(rig.turn(paces, number)):
                    for side in rig.turn(sides, number + slot):
                        one = clouds[side.name].measure(case, pace, seconds)
                        about = side.name, case, pace
                        measured.setdefault(about, []).append(one)
                        progress.step(
                            f'{number + 1} of {repeats}: {case} '
                            f'{shown(pace)}, {side.name}: '
                            f'{table.rate(one["rate"])}/s'
                        )
    return points(measured)


def paces_of(case, plan):
    """The paces of a case: rounds per second, or :data:`LOOP`."""
    if case in rounds.OWN:
        return (LOOP,)
    return plan.rates or PACES[plan.scale]


def shown(pace):
    """A pace in words."""
    return pace if isinstance(pace, str) else f'{pace:g}/s'


class Cloud:
    """The users, projects and tokens of one side.

    :param side: a :class:`bench.rig.Side`
    """

    def __init__(self, side):
        self._side = side
        self._admin = side.keystone
        (service,) = population.accounts(self._admin, 1, 'service')
        self._service = client.token(service)
        users = population.accounts(self._admin, USERS)
        self._tokens = population.tokens(users, TOKENS)
        # Separate users, whose tokens are not validated.
        writers = population.accounts(self._admin, len(CASES))
        self._writers = dict(zip(CASES, writers, strict=True))

    def forget(self):
        """Remove what earlier writes have left."""
        self._side.forget_events()
        self._warm()

    def _warm(self):
        requests = [(self._service, one, '') for one in self._tokens]
        turns.once([self._side.url], _WARM * requests, CLIENTS)

    def measure(self, case, pace, seconds) -> dict:
        """One slice of time.

        A slow pace makes it longer, so that it has a round of writes.

        :param case: one of :data:`CASES`
        :param pace: see :func:`paces_of`, or :data:`QUIET`
        :returns: dict with the fields of :class:`bench.load.Measure`,
            ``written`` (rounds per second), ``write_p50`` (milliseconds of
            a round) and ``writer_cpu`` (processor seconds per second)
        """
        self._warm()
        answer = writing.NONE
        if pace == QUIET:
            found = self._validate(seconds)
        else:
            rate = None if pace == LOOP else pace
            if rate:
                seconds = max(seconds, round(1 / rate))
            make = {**rounds.STEADY, **rounds.OWN}[case]
            steps = make(self._admin, self._writers[case])
            with writing.writing(self._admin, steps, seconds, rate) as answer:
                found = self._validate(seconds)
        return {
            **dataclasses.asdict(found),
            'written': answer['rate'],
            'write_p50': answer['p50'],
            'writer_cpu': answer['cpu'],
        }

    def _validate(self, seconds):
        return turns.validate(
            self._side.url, self._service, self._tokens, seconds, CLIENTS
        )


def points(measured):
    """Sum up the rounds.

    :param measured: {(side, case, pace): for each round what
        :meth:`Cloud.measure` gave}
    :returns: a list of dicts, one per case and pace: ``case``, ``pace`` (in
        words), what :func:`bench.summary.by_stock` gives, and for each side
        what :func:`bench.summary.of` gives against the quiet slices, and the
        medians of ``written`` and ``write_p50``, and ``writer_cpu``
    """
    found = []
    for case, pace in dict.fromkeys(about[1:] for about in measured):
        point = {'case': case, 'pace': shown(pace)}
        runs = {side: measured[side, case, pace] for side in _SIDES}
        for side, of_side in runs.items():
            point[side] = summary.of(of_side, measured[side, case, QUIET])
            for name in ('written', 'write_p50', 'writer_cpu'):
                values = [one[name] for one in of_side]
                point[side][name] = _median(values)
        point.update(summary.by_stock(runs['patched'], runs['stock']))
        found.append(point)
    return found


def _median(values):
    return None if None in values else round(statistics.median(values), 3)


def text(found):
    """The points as a table."""
    head = [
        'writes', 'asked', 'side', 'done/s', '1/s', 'by stock', 'spread',
        'of quiet', 'spread', 'p99 ms', 'round ms', 'runs',
    ]  # fmt: skip

    def cells(point, side, one):
        late = one['write_p50']
        return [
            point['case'], point['pace'], side, table.rate(one['written']),
            table.rate(one['rate']), *table.by_stock(point, side),
            table.percent(one['of_own_0']),
            table.spread(
                [100 * share for share in one['of_own_0_spread']], '{:.1f}'
            ),
            f'{one["p99"]:.1f}', '-' if late is None else f'{late:.0f}',
            one['repeats'],
        ]  # fmt: skip

    return table.of_sides(head, found, cells)
