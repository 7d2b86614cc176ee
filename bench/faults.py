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
_ALL_OF_THEM = ('mariadb', 'galera', 'postgresql')
DATABASES = {'small': _ALL_OF_THEM, 'full': _ALL_OF_THEM}
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

    :param measured: {(case, side): what :func:`patchset.cluster.faults.endure`
        returns}
    :returns: list of dicts, one per case and fault: ``case``, ``fault``, and
        for each side what ``endure`` returns for it; the last one of a case
        only has ``lost``, the number of losses after all faults
    """
    found = []
    for case in dict.fromkeys(about[0] for about in measured):
        sides = {side: measured[case, side] for side in _SIDES}
        for name in sides['stock'][0]:
            noticed = {side: one[name] for side, (one, _) in sides.items()}
            found.append({'case': case, 'fault': name, **noticed})
        lost = {side: {'lost': len(one)} for side, (_, one) in sides.items()}
        found.append({'case': case, 'fault': 'after all of them', **lost})
    return found


def _failed(point, side):
    one = point[side]
    if 'lost' in one:
        return '-'
    return table.percent(one['failed'] / one['requests'])


#: The points as a table.
text = table.of_sides(
    ('cluster', 'case'), 'fault', table.SIDE, ('requests', 'requests', '{}'),
    ('failed', _failed), ('refused', 'refused', '{}'),
    ('restored s', 'lasted', '{:.1f}'),
    ('last failure s', 'recovered', '{:.1f}'),
    ('slowest s', 'slowest', '{:.1f}'), ('revoked', 'revoked', '{}'),
    ('accepted late', 'accepted', '{}'), ('longest s', 'longest', '{:.1f}'),
    ('lost', 'lost', '{}'),
)  # fmt: skip
