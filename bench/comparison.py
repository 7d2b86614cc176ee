# SPDX-License-Identifier: Apache-2.0

"""Differences between two runs of the same experiments.

Only ratios are compared: of patched and stock, or of a side and itself. Points
without a ratio are left out. Because steal time (:mod:`bench.steal_time`)
causes differences, undisturbed measurements are also counted separately.
"""

import math

from bench import experiments
from bench import summary
from bench import table

TOLERANCE = 0.15  # largest difference expected of runs on an idle machine
UNDISTURBED = 0.02  # largest share of steal time of an undisturbed run


def ratios(result):
    """The ratios of one run.

    :param result: a dict as ``./ks bench`` writes it
    :returns: {(description of the point, side): ratio}
    """
    ratios = {}
    for point in result['points']:
        description = ' '.join(
            f'{name} {value}'
            for name, value in point.items()
            if name != 'ratio' and isinstance(value, str | int)
        )
        if 'ratio' in point:
            ratios[description, 'both'] = point['ratio']
            continue
        for side in summary.sides(point):
            for name in ('of_own_0', 'of_stock'):
                # 1 means that the side is compared with itself.
                if point[side].get(name, 1) != 1:
                    ratios[description, side] = point[side][name]
    return ratios


def compare(folder, other_folder):
    """Compare the results with the same file names in two folders.

    :returns: list of (experiment, description of the point, side, ratio in the
        first folder, ratio in the other, larger share of steal time of both)
    """
    others = {
        path.name: one for path, one in experiments.results(other_folder)
    }
    rows = []
    for path, result in experiments.results(folder):
        other = others.get(path.name, {'points': []})
        steal = max(one.get('steal', 0) for one in (result, other))
        other_ratios = ratios(other)
        rows += [
            (result['experiment'], *key, ratio, other_ratios[key], steal)
            for key, ratio in ratios(result).items()
            if key in other_ratios
        ]
    return rows


def difference(ratio, other):
    """The larger of two ratios, relative to the smaller, minus 1."""
    low, high = sorted((ratio, other))
    if not low:
        return math.inf if high else 0
    return high / low - 1


def text(rows):
    """The comparison as a table, and how many ratios were reproduced.

    :param rows: what :func:`compare` returns
    """
    head = [
        'experiment', 'point', 'side', 'first', 'second', 'difference',
        'steal',
    ]  # fmt: skip
    cells = [
        [
            *names, f'{ratio:.2f}', f'{other:.2f}',
            f'{difference(ratio, other):.0%}', f'{steal:.0%}',
        ]
        for *names, ratio, other, steal in rows
    ]  # fmt: skip
    undisturbed = [row for row in rows if row[-1] < UNDISTURBED]
    return (
        f'{table.render(head, cells)}\n\n'
        f'{_reproduced(rows)} ratios within {TOLERANCE:.0%} of each other; '
        f'where less than {UNDISTURBED:.0%} of the time was stolen from both '
        f'runs, {_reproduced(undisturbed)}'
    )


def _reproduced(rows):
    count = sum(
        difference(ratio, other) <= TOLERANCE for *_, ratio, other, _ in rows
    )
    return f'{count} of {len(rows)}'
