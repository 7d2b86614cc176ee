# SPDX-License-Identifier: Apache-2.0

"""Medians, spreads and ratios of repeated measurements."""

#: What may be measured, in the order in which it is shown; ``cloud`` is an
#: existing Keystone, alone.
SIDES = ('stock', 'patched', 'cloud')


def sides(names):
    """Names of the sides that there are, such as those of a point."""
    return [side for side in SIDES if side in names]


def median(values, weights):
    """The value that has half of the weights on each side.

    Each value stands in the middle of its weight, and between two of them the
    median is interpolated: two values that weigh nearly alike give their mean.

    :param weights: for each value, a number above 0; all alike, they give
        the ordinary median
    """
    half = sum(weights) / 2
    reached, last = 0, None
    for value, weight in sorted(zip(values, weights, strict=True)):
        place = reached + weight / 2
        if last and place >= half:
            share = (half - last[0]) / (place - last[0])
            return last[1] + share * (value - last[1])
        last = place, value
        reached += weight
    return last[1]


def trimmed_mean(values, weights):
    """The mean without the least value and the most; with two, of both.

    Of few values it varies less than their median, unless one is far off.

    :param weights: for each value, a number above 0
    """
    pairs = sorted(zip(values, weights, strict=True))
    inner = pairs[1:-1] or pairs
    total = sum(weight for _, weight in inner)
    return sum(value * weight for value, weight in inner) / total


def weight(*runs):
    """What a comparison counts: how little was stolen from any of the runs.

    A slice in which the machine hardly ran has answered few requests.

    :param runs: dicts that may have ``steal``, see :mod:`bench.steal`
    """
    return 1 - max(run.get('steal', 0) for run in runs)


def of(runs, references):
    """Sum up the runs of one point.

    Each run is divided by the reference of its own round, so that a machine
    that is slower in one round than in another leaves the ratio alone.

    :param runs: list of dicts with ``rate``, ``p50`` and ``p99``, and
        ``steal`` if that is known; None where a round left the point out
    :param references: for each run, the one that its rate is compared with
    :returns: dict with the medians of rate, p50, p99 and ``of_own_0`` (run
        by reference), by :func:`weight`; ``rate_spread`` and
        ``of_own_0_spread`` as [least, most]; ``repeats``, the number of
        runs, and ``runs``
    """
    pairs = [
        (run, reference)
        for run, reference in zip(runs, references, strict=True)
        if run is not None
    ]
    done = [run for run, _ in pairs]
    weights = [weight(run) for run in done]
    share, share_spread = _divide(pairs, 4)

    def middle(name):
        return median([run[name] for run in done], weights)

    rates = [run['rate'] for run in done]
    return {
        'rate': round(middle('rate'), 4),
        'rate_spread': [min(rates), max(rates)],
        'p50': middle('p50'),
        'p99': middle('p99'),
        'of_own_0': share,
        'of_own_0_spread': share_spread,
        'repeats': len(done),
        'runs': done,
    }


def by_stock(patched, stock, middle=median):
    """Divide the patched rate by stock's of the same round.

    :param patched: list of dicts with ``rate``, and ``steal`` if that is
        known, one for each round
    :param stock: the same of the other side
    :param middle: :func:`median` or :func:`trimmed_mean`
    :returns: dict with that by :func:`weight` as ``ratio``, and
        ``ratio_spread`` as [least, most]
    """
    pairs = list(zip(patched, stock, strict=True))
    ratio, spread = _divide(pairs, 2, middle)
    return {'ratio': ratio, 'ratio_spread': spread}


def _divide(pairs, digits, middle=median):
    """Each run's rate by that of the other: their middle, [least, most]."""
    ratios = [run['rate'] / other['rate'] for run, other in pairs]
    weights = [weight(*pair) for pair in pairs]
    return (
        round(middle(ratios, weights), digits),
        [round(min(ratios), digits), round(max(ratios), digits)],
    )


def compared(runs, middle=median):
    """Sum up the sides of one point, each compared with the first.

    :param runs: {side: list of dicts as :func:`of` takes them}
    :param middle: what :func:`by_stock` takes
    :returns: {side: what :func:`of` gives}, and with two sides what
        :func:`by_stock` gives
    """
    first, *others = sides(runs)
    point = {side: of(runs[side], runs[first]) for side in (first, *others)}
    for side in others:
        point.update(by_stock(runs[side], runs[first], middle))
    return point
