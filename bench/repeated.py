# Licensed under the Apache License, Version 2.0 (the "License"); you may
# not use this file except in compliance with the License. You may obtain
# a copy of the License at
#
#      http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the
# License for the specific language governing permissions and limitations
# under the License.

"""How far two runs of the same experiments are from each other.

A figure of one run is worth what a second one gives again. What is compared
are the ratios: of patched and stock, or of a side and itself. Points that have
none are left out.
"""

from bench import experiments
from bench import summary
from bench import table

WITHIN = 0.15  # what two runs of an idle machine should do


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
        the first, ratio of the other), as in the first
    """
    repeats = {
        path.name: ratios(result)
        for path, result in experiments.results(other)
    }
    return [
        (result['experiment'], *about, ratio, repeats[path.name][about])
        for path, result in experiments.results(folder)
        for about, ratio in ratios(result).items()
        if about in repeats.get(path.name, ())
    ]


def apart(ratio, again):
    """By what share the larger of two ratios is above the smaller."""
    return max(ratio, again) / min(ratio, again) - 1


def text(rows):
    """The comparison as a table, and how many are near each other.

    :param rows: what :func:`compare` gives
    """
    head = ['experiment', 'what', 'side', 'ratio', 'again', 'apart']
    cells = [
        [*words, f'{ratio:.2f}', f'{again:.2f}', f'{apart(ratio, again):.0%}']
        for *words, ratio, again in rows
    ]
    near = sum(apart(ratio, again) <= WITHIN for *_, ratio, again in rows)
    return (
        f'{table.render(head, cells)}\n\n'
        f'{near} of {len(rows)} ratios within {WITHIN:.0%} of each other'
    )
