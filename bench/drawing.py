# SPDX-License-Identifier: Apache-2.0

"""Parts of the charts: panels, lines, bars, and SVG for a page.

Only this module requires matplotlib.
"""

import io

import matplotlib

matplotlib.use('svg')

from matplotlib import pyplot  # noqa: E402

from bench import summary  # noqa: E402

# Different without colors as well.
SIDES = {
    'stock': {'color': '#d55e00', 'marker': 's', 'linestyle': '--'},
    'patched': {'color': '#0072b2', 'marker': 'o', 'linestyle': '-'},
    'cloud': {'color': '#009e73', 'marker': '^', 'linestyle': '-.'},
}


MEDIAN = 'Median of the rounds; the bars show their minimum and maximum.'


def chart(caption, points, field, draw, *, sharey=False, **options):
    """A chart with a panel for each value of a field: (caption, figure).

    :param field: its name, or a function of a point; None makes one panel
    :param draw: function of a panel, its points and the options, such as
        :func:`bars`
    :param sharey: whether all panels have the same vertical axis
    """
    groups = summary.grouped(points, field) if field else {'': points}
    figure, panels = grid(len(groups), sharey)
    for panel, (value, group) in zip(panels, groups.items(), strict=True):
        panel.set_title(value)
        draw(panel, group, **options)
    return caption, figure


def bars(panel, points, label, name='rate', form='{:.0f}', factor=1, **axes):
    """A field of the sides next to each other, for each point.

    :param label: text below a point: the name of one of its fields, or a
        function of the point
    :param name: the field; rates are drawn with their spread
    :param form: format of the numbers, a string or a function
    :param factor: what they are multiplied by
    :param axes: title and labels of the panel
    """
    sides = summary.sides(points[0])
    width = 0.7 / len(sides)
    for number, side in enumerate(sides):
        container = panel.bar(
            [place + number * width for place in range(len(points))],
            [factor * point[side][name] for point in points],
            width, yerr=_spread(points, side) if name == 'rate' else None,
            capsize=3, label=side,
            color=SIDES[side]['color'],
            hatch='//' if side == 'stock' else None,
        )  # fmt: skip
        texts = panel.bar_label(container, fmt=form, label_type='center')
        for text in texts:
            text.set_bbox({'color': 'white', 'alpha': 0.8, 'pad': 1})
    center = width * (len(sides) - 1) / 2
    ticks = [place + center for place in range(len(points))]
    panel.set_xticks(ticks, [summary.value(one, label) for one in points])
    # Room for the legend.
    panel.set_ylim(top=1.25 * panel.get_ylim()[1])
    panel.set(**axes)
    panel.legend()


def grid(count, sharey=False):
    """A figure of ``count`` panels, two in a row: figure, list of panels.

    :param sharey: whether all have the same vertical axis
    """
    columns = min(count, 2)
    rows = -(-count // columns)
    figure, panels = pyplot.subplots(
        rows, columns, squeeze=False, sharey=sharey, layout='constrained',
        figsize=(5 * columns, 3.4 * rows),
    )  # fmt: skip
    panels = list(panels.flat)
    for panel in panels[count:]:
        panel.remove()
    for panel in panels[:count]:
        panel.grid(color='#dddddd')
        panel.set_axisbelow(True)
        # Otherwise, only the left ones of a shared axis have numbers.
        panel.tick_params(labelleft=True)
    return figure, panels[:count]


def _spread(points, side):
    """Distances of the minimum and maximum rates from the medians."""
    own = [point[side] for point in points]
    # Unlike the spread, the rate may be rounded.
    return [
        [max(0, one['rate'] - one['rate_spread'][0]) for one in own],
        [max(0, one['rate_spread'][1] - one['rate']) for one in own],
    ]


def lines(panel, points, x, name='rate', *, from_zero=False, **axes):
    """A field of the sides against a field of the points.

    :param name: the field; rates are drawn with their spread
    :param from_zero: whether the vertical axis starts at 0
    :param axes: title, labels and limits of the panel
    """
    for side in summary.sides(points[0]):
        known = [point for point in points if side in point]
        panel.errorbar(
            [point[x] for point in known],
            [point[side][name] for point in known],
            _spread(known, side) if name == 'rate' else None,
            capsize=3,
            label=side,
            **SIDES[side],
        )
    if from_zero:
        start_at_zero(panel)
    panel.set(**axes)
    panel.legend()


def start_at_zero(panel):
    """Start the vertical axis at 0, with some room above the values."""
    panel.set_ylim(0, 1.1 * panel.get_ylim()[1])


def svg(figure, salt):
    """The chart as an SVG element.

    :param salt: text that makes its ids differ from those of other charts
    """
    matplotlib.rcParams['svg.hashsalt'] = salt
    # Text can then be searched, and takes less space.
    matplotlib.rcParams['svg.fonttype'] = 'none'
    output = io.StringIO()
    figure.savefig(output, format='svg', metadata={'Date': None})
    pyplot.close(figure)
    text = output.getvalue()
    lines = text[text.index('<svg') :].splitlines()
    return '\n'.join(line.rstrip() for line in lines) + '\n'
