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

"""Medians, spread and ratios of a measurement that was repeated."""

import statistics

#: What may be measured, in the order in which it is shown; ``cloud`` is an
#: existing Keystone, alone.
SIDES = ('stock', 'patched', 'cloud')


def sides(names):
    """Names of the sides that there are, such as those of a point."""
    return [side for side in SIDES if side in names]


def of(runs, references):
    """Sum up the runs of one point.

    Each run is divided by the reference of its own round, so that a machine
    that is slower in one round than in another leaves the ratio alone.

    :param runs: list of dicts with ``rate``, ``p50`` and ``p99``; None
        where a round left the point out
    :param references: for each run, the rate it is compared with
    :returns: dict with the medians of rate, p50, p99 and ``of_own_0`` (run
        by reference); ``rate_spread`` and ``of_own_0_spread`` as [least,
        most]; ``repeats``, the number of runs, and ``runs``
    """
    pairs = [
        (run, reference)
        for run, reference in zip(runs, references, strict=True)
        if run is not None
    ]
    done = [run for run, _ in pairs]
    rates = [run['rate'] for run in done]
    ratios = [run['rate'] / reference for run, reference in pairs]
    return {
        'rate': round(statistics.median(rates), 2),
        'rate_spread': [min(rates), max(rates)],
        'p50': statistics.median(run['p50'] for run in done),
        'p99': statistics.median(run['p99'] for run in done),
        'of_own_0': round(statistics.median(ratios), 4),
        'of_own_0_spread': [round(min(ratios), 4), round(max(ratios), 4)],
        'repeats': len(done),
        'runs': done,
    }


def by_stock(patched, stock):
    """Divide the patched rate by stock's of the same round.

    :param patched: list of dicts with ``rate``, one for each round
    :param stock: the same of the other side
    :returns: dict with the median as ``ratio``, and ``ratio_spread`` as
        [least, most]
    """
    ratios = [
        one['rate'] / other['rate']
        for one, other in zip(patched, stock, strict=True)
    ]
    return {
        'ratio': round(statistics.median(ratios), 2),
        'ratio_spread': [round(min(ratios), 2), round(max(ratios), 2)],
    }


def compared(runs):
    """Sum up the sides of one point, each compared with the first.

    :param runs: {side: list of dicts as :func:`of` takes them}
    :returns: {side: what :func:`of` gives}, and with two sides what
        :func:`by_stock` gives
    """
    first, *others = sides(runs)
    references = [run['rate'] for run in runs[first]]
    point = {side: of(runs[side], references) for side in (first, *others)}
    for side in others:
        point.update(by_stock(runs[side], runs[first]))
    return point
