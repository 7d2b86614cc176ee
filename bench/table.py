# SPDX-License-Identifier: Apache-2.0

"""Results as a text table."""

from bench import summary


def render(head, rows):
    """Text of a table, with words aligned left and numbers right.

    :param head: list of strings
    :param rows: list of lists of the same length, with any values
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
    """A function that renders points, with a row for each side.

    :param columns: each is the name of a field of the points; or a tuple of a
        heading and the name of the field; of a heading, the name of a field
        of the side, and its format, a string or a function; or of a heading
        and a function of the point and the name of the side
    """
    columns = [(one, one) if isinstance(one, str) else one for one in columns]

    def text(points):
        """The points as a table."""
        rows = [
            [_cell(point, side, *field) for _, *field in columns]
            for point in points
            for side in summary.sides(point)
        ]
        return render([column[0] for column in columns], rows)

    return text


def _cell(point, side, field, form=None):
    if callable(field):
        return field(point, side)
    value = point[side].get(field) if form else point[field]
    if value is None:
        return '-'
    return form(value) if callable(form) else (form or '{}').format(value)


def spread(values, form='{:.0f}'):
    """A minimum and a maximum as MINIMUM..MAXIMUM."""
    return '..'.join(form.format(value) for value in values)


def percents(shares):
    """The same of two shares in percent."""
    return spread([100 * share for share in shares], '{:.1f}')


def rate(number):
    """A number per second, with more digits if it is small."""
    digits = 1 if number >= 10 else 2 if number >= 1 else 3
    return f'{number:.{digits}f}'


def percent(share):
    """A share in percent."""
    return f'{100 * share:.1f} %'


def _ratio(point, side):
    is_compared = side == 'patched' and 'ratio' in point
    return f'{point["ratio"]:.2f}' if is_compared else '-'


def _ratio_spread(point, side):
    is_compared = side == 'patched' and 'ratio' in point
    return spread(point['ratio_spread'], '{:.2f}') if is_compared else '-'


#: Columns of several tables.
SIDE = ('side', lambda point, side: side)
RATE = ('1/s', 'rate', rate)
RATIO = (('ratio', _ratio), ('spread', _ratio_spread))
RUNS = ('runs', 'repeats', '{}')


def times(form='{:.0f}', names=('p50', 'p99')):
    """Columns of percentiles, in milliseconds."""
    return [(f'{name} ms', name, form) for name in names]
