# SPDX-License-Identifier: Apache-2.0

"""Medians, spreads and ratios of repeated measurements."""

import statistics

#: The possible sides, in the order in which they are shown; ``cloud`` is an
#: existing Keystone, without another side.
SIDES = ('stock', 'patched', 'cloud')


def sides(names):
    """Names of the existing sides, for example of those of a point."""
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
    """The mean without the minimum and maximum; with two values, of both.

    With few values, it varies less than the median, unless there is an
    outlier.
    """
    return statistics.mean(sorted(values)[1:-1] or values)


def medians(runs, names):
    """The medians of further fields: {name: median}.

    :param runs: list of dicts; those without a value are left out; the median
        is None if no run has one
    """
    results = {}
    for name in names:
        values = [run[name] for run in runs if run.get(name) is not None]
        results[name] = round(statistics.median(values), 3) if values else None
    return results


def side(runs, references):
    """Summarize the runs of one side of a point.

    Each run is divided by the reference of the same round, so that the ratio
    does not depend on the speed of the machine in a round.

    :param runs: list of dicts with ``rate``, ``p50`` and ``p99``; None for
        rounds in which the point was not measured
    :param references: for each run, the one by which its rate is divided
    :returns: dict with the medians of ``rate``, ``p50``, ``p99`` and
        ``of_own_0`` (run by reference); ``rate_spread`` and
        ``of_own_0_spread`` as [minimum, maximum]; ``repeats``, the number of
        runs, and ``runs``
    """
    pairs = [
        (run, reference)
        for run, reference in zip(runs, references, strict=True)
        if run is not None
    ]
    measured = [run for run, _ in pairs]
    ratio, ratio_spread = _ratio(pairs, 4)
    rates = [run['rate'] for run in measured]
    return {
        'rate': round(statistics.median(rates), 4),
        'rate_spread': [min(rates), max(rates)],
        'p50': statistics.median(run['p50'] for run in measured),
        'p99': statistics.median(run['p99'] for run in measured),
        'of_own_0': ratio,
        'of_own_0_spread': ratio_spread,
        'repeats': len(measured),
        'runs': measured,
    }


def _ratio(pairs, digits, average=statistics.median):
    """Average of the ratios of rates, and their [minimum, maximum]."""
    ratios = [run['rate'] / other['rate'] for run, other in pairs]
    return (
        round(average(ratios), digits),
        [round(min(ratios), digits), round(max(ratios), digits)],
    )


def point(runs, references=None, average=statistics.median, ratio=True):
    """Summarize the sides of one point.

    :param runs: {side: list of dicts as :func:`side` takes them}
    :param references: the same, by which the runs of each side are divided;
        None divides each by those of the first side
    :param average: function of a list of numbers
    :param ratio: whether the patched rate is divided by stock's of the same
        round
    :returns: {side: what :func:`side` returns}, and with two sides the average
        ratio as ``ratio``, and ``ratio_spread`` as [minimum, maximum]
    """
    first, *others = sides(runs)
    references = references or dict.fromkeys(runs, runs[first])
    result = {name: side(runs[name], references[name]) for name in sides(runs)}
    for name in others if ratio else ():
        pairs = list(zip(runs[name], runs[first], strict=True))
        result['ratio'], result['ratio_spread'] = _ratio(pairs, 2, average)
    return result
