# SPDX-License-Identifier: Apache-2.0

"""Effect on clients when a component of a cluster fails.

Three nodes behind HAProxy, stock and then patched, are under the load of
:mod:`patchset.cluster.load`. The faults of :mod:`patchset.cluster.faults` are
injected one after the other. A component is unavailable for several seconds,
and the load continues for the same time afterwards.

``near``
    One region, MariaDB and one memcached.
``far``
    Three regions with a round trip time of 100 ms, a Galera server and a
    memcached in each.
``ring``
    One region, PostgreSQL and three memcached that share the keys.
"""

from bench import summary
from bench import table
from patchset import progress
from patchset.cluster import faults
from patchset.cluster import layout

TITLE = 'Effect on clients when a component of a cluster fails'
CASES = {
    'near': {},
    'far': {
        'regions': 3, 'rtt': 100, 'database': 'galera', 'cache': 'per-node',
    },
    'ring': {'database': 'postgresql', 'cache': 'ring'},
}  # fmt: skip
_ALL_OF_THEM = ('mariadb', 'galera', 'postgresql')
DATABASES = {'small': _ALL_OF_THEM, 'full': _ALL_OF_THEM}
SECONDS = {'small': 3, 'full': 10}
_SIDES = ('stock', 'patched')
_AT_THE_END = 'after all of them'


def run(plan):
    """Run the experiment.

    :param plan: a :class:`bench.plan.Plan`
    :returns: what :func:`points` returns
    """
    measured = {}
    for case in plan.cases or CASES:
        for side in _SIDES:
            progress.step(f'{case}, {side}')
            measured[case, side] = faults.run(
                plan.pin,
                layout.Layout(kind=side, **CASES[case]),
                SECONDS[plan.scale],
            )
    return points(measured)


def points(measured):
    """Combine the results of both sides.

    :param measured: {(case, side): what :func:`patchset.cluster.faults.endure`
        returns}
    :returns: list of dicts, one per case and fault: ``case``, ``fault``, and
        for each side what ``endure`` returns for it; the last one of a case
        only has ``lost``, the number of losses after all faults
    """
    found = []
    for case in dict.fromkeys(about[0] for about in measured):
        for name in measured[case, _SIDES[0]][0]:
            point = {'case': case, 'fault': name}
            for side in _SIDES:
                point[side] = measured[case, side][0][name]
            found.append(point)
        point = {'case': case, 'fault': _AT_THE_END}
        for side in _SIDES:
            point[side] = {'lost': len(measured[case, side][1])}
        found.append(point)
    return found


def text(found):
    """The points as a table."""
    head = [
        'cluster', 'fault', 'side', 'requests', 'failed', 'refused',
        'back s', 'over s', 'slowest s', 'revoked', 'too late', 'longest s',
        'lost',
    ]  # fmt: skip

    def cells(one):
        if 'lost' in one:
            return [*['-'] * 9, one['lost']]
        return [
            one['requests'], table.percent(one['failed'] / one['requests']),
            one['refused'], f'{one["lasted"]:.1f}',
            f'{one["recovered"]:.1f}', f'{one["slowest"]:.1f}',
            one['revoked'], one['accepted'], f'{one["longest"]:.1f}', '-',
        ]  # fmt: skip

    rows = [
        [point['case'], point['fault'], side, *cells(point[side])]
        for point in found
        for side in summary.sides(point)
    ]
    return table.render(head, rows)
