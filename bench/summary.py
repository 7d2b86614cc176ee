# SPDX-License-Identifier: Apache-2.0

"""Medians, spreads and ratios of repeated measurements."""

import statistics

#: What may be measured, in the order in which it is shown; ``cloud`` is an
#: existing Keystone, alone.
SIDES = ('stock', 'patched', 'cloud')


def sides(names):
    """Names of the sides that there are, such as those of a point."""
    return [side for side in SIDES if side in names]


def value(point, field):
    """The value of a field, which is its name or a function of the point."""
    return field(point) if callable(field) else point[field]


def grouped(points, field):
    """The points by the value of a field, see :func:`value`: a dict."""
    groups = {}
    for point in points:
        groups.setdefault(value(point, field), []).append(point)
    return groups


def trimmed_mean(values):
    """The mean without the least value and the most; with two, of both.

    Of few values it varies less than their median, unless one is far off.
    """
    return statistics.mean(sorted(values)[1:-1] or values)


def medians(runs, names):
    """The medians of further fields: {name: median}.

    :param runs: list of dicts; those without a value are left out, and where
        none has one, the median is None
    """
    found = {}
    for name in names:
        values = [run[name] for run in runs if run.get(name) is not None]
        found[name] = round(statistics.median(values), 3) if values else None
    return found


def of(runs, references):
    """Sum up the runs of one point.

    Each run is divided by the reference of its own round, so that a machine
    that is slower in one round than in another leaves the ratio alone.

    :param runs: list of dicts with ``rate``, ``p50`` and ``p99``; None where
        a round left the point out
    :param references: for each run, the one that its rate is compared with
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
    share, share_spread = _divide(pairs, 4)
    rates = [run['rate'] for run in done]
    return {
        'rate': round(statistics.median(rates), 4),
        'rate_spread': [min(rates), max(rates)],
        'p50': statistics.median(run['p50'] for run in done),
        'p99': statistics.median(run['p99'] for run in done),
        'of_own_0': share,
        'of_own_0_spread': share_spread,
        'repeats': len(done),
        'runs': done,
    }


def _divide(pairs, digits, middle=statistics.median):
    """Each run's rate by that of the other: their middle, [least, most]."""
    ratios = [run['rate'] / other['rate'] for run, other in pairs]
    return (
        round(middle(ratios), digits),
        [round(min(ratios), digits), round(max(ratios), digits)],
    )


def compared(runs, references=None, middle=statistics.median, ratio=True):
    """Sum up the sides of one point.

    :param runs: {side: list of dicts as :func:`of` takes them}
    :param references: the same, what the runs of each side are divided by;
        None has each side compared with the first one
    :param middle: function that gives the median of numbers, or another mean
    :param ratio: whether the patched rate is divided by stock's of the same
        round
    :returns: {side: what :func:`of` gives}, and with two sides the middle of
        that as ``ratio``, and ``ratio_spread`` as [least, most]
    """
    first, *others = sides(runs)
    references = references or dict.fromkeys(runs, runs[first])
    point = {side: of(runs[side], references[side]) for side in sides(runs)}
    for side in others if ratio else ():
        pairs = list(zip(runs[side], runs[first], strict=True))
        point['ratio'], point['ratio_spread'] = _divide(pairs, 2, middle)
    return point
