# SPDX-License-Identifier: Apache-2.0

"""Differences between two runs of the same experiments.

Only ratios are compared: of patched and stock, or of a side and itself. Points
without a ratio are left out. Stolen time (:mod:`bench.steal`) causes
differences. Undisturbed measurements are counted separately.
"""

import math

from bench import experiments
from bench import summary
from bench import table

WITHIN = 0.15  # what two runs of an idle machine should do
CALM = 0.02  # share of the time that may be stolen on one


def ratios(result):
    """The ratios of one run.

    :param result: a dict as ``./ks bench`` writes it
    :returns: {(what the point is about as words, side): ratio}
    """
    found = {}
    for point in result['points']:
        about = ' '.join(
            f'{name} {value}'
            for name, value in point.items()
            if name != 'ratio' and isinstance(value, str | int)
        )
        if 'ratio' in point:
            found[about, 'by stock'] = point['ratio']
            continue
        for side in summary.sides(point):
            for name in ('of_own_0', 'of_stock'):
                # A side that is compared with itself alone says nothing.
                if point[side].get(name, 1) != 1:
                    found[about, side] = point[side][name]
    return found


def compare(folder, other):
    """Compare what two folders have of the same names.

    :param folder: path of a folder with results
    :param other: path of the other one
    :returns: list of (experiment, what the point is about, side, ratio of
        the first, ratio of the other, the larger share that was stolen of
        the two), as in the first
    """
    repeats = {path.name: one for path, one in experiments.results(other)}
    rows = []
    for path, result in experiments.results(folder):
        again = repeats.get(path.name, {'points': []})
        stolen = max(one.get('steal', 0) for one in (result, again))
        others = ratios(again)
        rows += [
            (result['experiment'], *about, ratio, others[about], stolen)
            for about, ratio in ratios(result).items()
            if about in others
        ]
    return rows


def apart(ratio, again):
    """By what share the larger of two ratios is above the smaller."""
    low, high = sorted((ratio, again))
    if not low:
        return math.inf if high else 0
    return high / low - 1


def text(rows):
    """The comparison as a table, and how many are near each other.

    :param rows: what :func:`compare` gives
    """
    head = ['experiment', 'what', 'side', 'ratio', 'again', 'apart', 'stolen']
    cells = [
        [
            *words, f'{ratio:.2f}', f'{again:.2f}',
            f'{apart(ratio, again):.0%}', f'{stolen:.0%}',
        ]
        for *words, ratio, again, stolen in rows
    ]  # fmt: skip
    calm = [row for row in rows if row[-1] < CALM]
    return (
        f'{table.render(head, cells)}\n\n'
        f'{_near(rows)} ratios within {WITHIN:.0%} of each other; where less '
        f'than {CALM:.0%} of the time was stolen from both runs, '
        f'{_near(calm)}'
    )


def _near(rows):
    near = sum(apart(ratio, again) <= WITHIN for *_, ratio, again, _ in rows)
    return f'{near} of {len(rows)}'
