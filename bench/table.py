# SPDX-License-Identifier: Apache-2.0

"""Results as a text table."""

from bench import summary


def render(head, rows):
    """Lines of a table: words on the left, numbers on the right.

    :param head: list of strings
    :param rows: list of lists of the same length, of anything
    """
    columns = list(zip(head, *rows, strict=True))
    cells = [_aligned([str(cell) for cell in column]) for column in columns]
    lines = ['  '.join(row).rstrip() for row in zip(*cells, strict=True)]
    lines.insert(1, '  '.join('-' * len(column[0]) for column in cells))
    return '\n'.join(lines)


def of_sides(head, points, cells):
    """A table with a line for each side of each point.

    :param head: list of strings
    :param points: list of dicts, each with the sides that were measured
    :param cells: callable; takes a point, the name of a side and what the
        point has of it, and returns a list as long as the head
    """
    rows = [
        cells(point, side, point[side])
        for point in points
        for side in summary.sides(point)
    ]
    return render(head, rows)


def _aligned(words):
    width = max(map(len, words))
    numbers = any(word[:1].isdigit() for word in words[1:])
    return [
        word.rjust(width) if numbers else word.ljust(width) for word in words
    ]


def spread(values, form='{:.0f}'):
    """Two values as LEAST..MOST."""
    return '..'.join(form.format(value) for value in values)


def rate(number):
    """A number per second, small ones with more digits."""
    digits = 1 if number >= 10 else 2 if number >= 1 else 3
    return f'{number:.{digits}f}'


def percent(share):
    """A share as per cent; nothing as a dash."""
    return '-' if share is None else f'{100 * share:.1f} %'


def by_stock(point, side):
    """The cells of one side for what :func:`bench.summary.by_stock` gave.

    :param side: ``patched``; the others have dashes
    """
    if side != 'patched':
        return ['-', '-']
    return [f'{point["ratio"]:.2f}', spread(point['ratio_spread'], '{:.2f}')]
