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


def _aligned(words):
    width = max(map(len, words))
    numbers = any(word[:1].isdigit() for word in words[1:])
    return [
        word.rjust(width) if numbers else word.ljust(width) for word in words
    ]


def of_sides(*columns):
    """A function that renders points, with a line for each side of each.

    :param columns: for each one its head and, if the point has it under
        another name, that; or a head, the name of a field that the side has,
        and how it is written, a format or a function; or a head and a
        function of the point and the name of the side
    """
    columns = [(one, one) if isinstance(one, str) else one for one in columns]

    def text(points):
        """The points as a table."""
        rows = [
            [_cell(point, side, *what) for _, *what in columns]
            for point in points
            for side in summary.sides(point)
        ]
        return render([column[0] for column in columns], rows)

    return text


def _cell(point, side, what, form=None):
    if callable(what):
        return what(point, side)
    value = point[side].get(what) if form else point[what]
    if value is None:
        return '-'
    return form(value) if callable(form) else (form or '{}').format(value)


def spread(values, form='{:.0f}'):
    """Two values as LEAST..MOST."""
    return '..'.join(form.format(value) for value in values)


def percents(shares):
    """Two shares as LEAST..MOST, in per cent."""
    return spread([100 * share for share in shares], '{:.1f}')


def rate(number):
    """A number per second, small ones with more digits."""
    digits = 1 if number >= 10 else 2 if number >= 1 else 3
    return f'{number:.{digits}f}'


def percent(share):
    """A share as per cent."""
    return f'{100 * share:.1f} %'


def _ratio(point, side):
    return f'{point["ratio"]:.2f}' if _is_compared(point, side) else '-'


def _ratio_spread(point, side):
    if not _is_compared(point, side):
        return '-'
    return spread(point['ratio_spread'], '{:.2f}')


def _is_compared(point, side):
    return side == 'patched' and 'ratio' in point


#: Columns that several tables have.
SIDE = ('side', lambda point, side: side)
RATE = ('1/s', 'rate', rate)
RATIO = (('ratio', _ratio), ('spread', _ratio_spread))
RUNS = ('runs', 'repeats', '{}')


def times(form='{:.0f}', names=('p50', 'p99')):
    """Columns of percentiles, in milliseconds."""
    return [(f'{name} ms', name, form) for name in names]
