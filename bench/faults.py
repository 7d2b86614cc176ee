# SPDX-License-Identifier: Apache-2.0

"""Effect on clients when a component of a cluster fails.

The clients are those of :mod:`patchset.cluster.load`, and the faults those of
:mod:`patchset.cluster.faults`.
"""

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
DATABASES = dict.fromkeys(('small', 'full'), layout.DATABASES)
SECONDS = {'small': 3, 'full': 10}
_SIDES = ('stock', 'patched')


def run(plan):
    """Run the experiment; see :mod:`bench.experiments`."""
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

    :param measured: {(case, side): result of
        :func:`patchset.cluster.faults.run`}
    :returns: list of dicts, one per case and fault: ``case``, ``fault``, and
        for each side the result for it; the last one of a case only has
        ``lost``, the number of losses after all faults
    """
    points = []
    for case in dict.fromkeys(case for case, _ in measured):
        sides = {side: measured[case, side] for side in _SIDES}
        for name in sides['stock'][0]:
            results = {
                side: faults[name] for side, (faults, _) in sides.items()
            }
            points.append({'case': case, 'fault': name, **results})
        lost = {side: {'lost': len(lost)} for side, (_, lost) in sides.items()}
        points.append({'case': case, 'fault': 'after all of them', **lost})
    return points


def _failed(point, side):
    result = point[side]
    if 'lost' in result:
        return '-'
    return table.percent(result['failed'] / result['requests'])


text = table.of_sides(
    ('cluster', 'case'), 'fault', table.SIDE, ('requests', 'requests', '{}'),
    ('failed', _failed), ('refused', 'refused', '{}'),
    ('restored s', 'lasted', '{:.1f}'),
    ('last failure s', 'recovered', '{:.1f}'),
    ('slowest s', 'slowest', '{:.1f}'), ('revoked', 'revoked', '{}'),
    ('accepted late', 'accepted', '{}'), ('longest s', 'longest', '{:.1f}'),
    ('lost', 'lost', '{}'),
)  # fmt: skip
