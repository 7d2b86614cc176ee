# SPDX-License-Identifier: Apache-2.0

"""Rate at which Keystone checks signed requests of other services.

An object store sends ``POST /v3/s3tokens`` for each, a compute cloud ``POST
/v3/ec2tokens``. Four concurrent clients each use their own credential
repeatedly; the caller is the admin. Sides alternate from round to round, and
each is compared with stock in the same round.
"""

import dataclasses

from bench import client
from bench import load
from bench import rig
from bench import signing
from bench import summary
from bench import table
from patchset import progress

TITLE = 'Cost of a signed request'
KINDS = {'s3tokens': signing.s3, 'ec2tokens': signing.ec2}
SECONDS = {'small': 1, 'full': 5}
REPEATS = {'small': 6, 'full': 10}
CLIENTS = 4
_WARM = 1  # seconds


def run(plan):
    """Run the experiment.

    :param plan: a :class:`bench.plan.Plan`
    :returns: what :func:`points` gives
    """
    seconds, repeats = SECONDS[plan.scale], REPEATS[plan.scale]
    measured = {}
    with rig.both(plan) as sides:
        keys = {side.name: client.access_keys(side, CLIENTS) for side in sides}
        for side in sides:
            for kind in KINDS:
                measure(side, kind, keys[side.name], _WARM)
        for number in range(repeats):
            for kind in KINDS:
                for side in rig.turn(sides, number):
                    one = measure(side, kind, keys[side.name], seconds)
                    measured.setdefault((side.name, kind), []).append(one)
                    progress.step(
                        f'{number + 1} of {repeats}: {kind}, {side.name}: '
                        f'{table.rate(one["rate"])}/s'
                    )
    return points(measured)


def measure(side, kind, keys, seconds):
    """One slice of time.

    :param keys: for each client, its (access key, secret)
    :returns: dict with the fields of :class:`bench.load.Measure`
    """
    url = f'{side.keystone.url}/{kind}'
    headers = {'X-Auth-Token': client.token(side.keystone)}
    bodies = [KINDS[kind](*key) for key in keys]
    return dataclasses.asdict(load.post(url, headers, bodies, seconds))


def points(measured):
    """Sum up the rounds.

    :param measured: {(side, kind): list of what :func:`measure` gave}
    :returns: list of dicts, one per kind: ``kind``, and for each side what
        :func:`bench.summary.of` gives, compared with stock
    """
    found = []
    for kind in KINDS:
        point = {'kind': kind}
        for side in ('stock', 'patched'):
            point[side] = summary.of(
                measured[side, kind], measured['stock', kind]
            )
            for end in ('', '_spread'):
                point[side][f'of_stock{end}'] = point[side].pop(
                    f'of_own_0{end}'
                )
        found.append(point)
    return found


def text(found):
    """The points as a table."""
    head = ['request', 'side', '1/s', 'of stock', 'spread', 'p50 ms']

    def cells(point, side, one):
        return [
            point['kind'], side, table.rate(one['rate']),
            table.percent(one['of_stock']),
            table.spread(
                [100 * share for share in one['of_stock_spread']],
                '{:.1f}',
            ),
            f'{one["p50"]:.0f}', f'{one["p99"]:.0f}', one['repeats'],
        ]  # fmt: skip

    return table.of_sides([*head, 'p99 ms', 'runs'], found, cells)
