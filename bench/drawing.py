# SPDX-License-Identifier: Apache-2.0

"""Parts of the charts: panels, lines, bars, and SVG for a page.

Only this module requires matplotlib.
"""

import io

import matplotlib

matplotlib.use('svg')

from matplotlib import pyplot  # noqa: E402

from bench import summary  # noqa: E402

SIDES = {
    # Told apart without colours as well.
    'stock': {'color': '#d55e00', 'marker': 's', 'linestyle': '--'},
    'patched': {'color': '#0072b2', 'marker': 'o', 'linestyle': '-'},
    'cloud': {'color': '#009e73', 'marker': '^', 'linestyle': '-.'},
}


MEDIAN = 'Median of the rounds; the bars span the least and the most.'


def chart(caption, salt, points, field, draw, *, sharey=False, **options):
    """A chart with a panel for each value of a field: its caption, and SVG.

    :param salt: words that no other chart has
    :param field: its name, or a function of a point; None makes one panel
    :param draw: function of a panel, its points and the options, such as
        :func:`bars`
    :param sharey: whether all panels have the same vertical axis
    """
    groups = summary.grouped(points, field) if field else {'': points}
    figure, panels = grid(len(groups), sharey)
    for panel, (value, rows) in zip(panels, groups.items(), strict=True):
        panel.set_title(value)
        draw(panel, rows, **options)
    return caption, svg(figure, salt)


def bars(panel, points, label, name='rate', form='{:.0f}', factor=1, **axes):
    """A field of the sides beside each other, for each point.

    :param label: what stands below a point: the name of one of its fields,
        or a function of the point
    :param name: the field; rates show their spread
    :param form: how the numbers are written, a format or a function
    :param factor: what they are multiplied with
    :param axes: title and labels of the panel
    """
    sides = summary.sides(points[0])
    width = 0.7 / len(sides)
    for place, side in enumerate(sides):
        drawn = panel.bar(
            [number + place * width for number in range(len(points))],
            [factor * point[side][name] for point in points],
            width, yerr=_reach(points, side) if name == 'rate' else None,
            capsize=3, label=side,
            color=SIDES[side]['color'],
            hatch='//' if side == 'stock' else None,
        )  # fmt: skip
        texts = panel.bar_label(drawn, fmt=form, label_type='center')
        for text in texts:
            text.set_bbox({'color': 'white', 'alpha': 0.8, 'pad': 1})
    middle = width * (len(sides) - 1) / 2
    places = [number + middle for number in range(len(points))]
    panel.set_xticks(places, [summary.value(one, label) for one in points])
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
        # Else only the left ones of a shared axis have numbers.
        panel.tick_params(labelleft=True)
    return figure, panels[:count]


def _reach(points, side):
    """How far the rates go below and above their medians."""
    rates = [point[side]['rate'] for point in points]
    least, most = zip(
        *(point[side]['rate_spread'] for point in points), strict=True
    )
    # The rates may be rounded, the ends are not.
    return [
        [max(0, rate - end) for rate, end in zip(rates, least, strict=True)],
        [max(0, end - rate) for rate, end in zip(rates, most, strict=True)],
    ]


def lines(panel, points, x, name='rate', *, from_zero=False, **axes):
    """A field of the sides against one of the points, rates with spread.

    :param from_zero: whether the lines stand on 0, with some room above
    :param axes: title, labels and limits of the panel
    """
    for side in summary.sides(points[0]):
        known = [point for point in points if side in point]
        places = [point[x] for point in known]
        values = [point[side][name] for point in known]
        reach = _reach(known, side) if name == 'rate' else None
        more = {'yerr': reach, 'capsize': 3} if reach else {}
        plot = panel.errorbar if reach else panel.plot
        plot(places, values, label=side, **more, **SIDES[side])
    if from_zero:
        stand_on_zero(panel)
    panel.set(**axes)
    panel.legend()


def stand_on_zero(panel):
    """Let what is drawn stand on 0, with some room above it."""
    panel.set_ylim(0, 1.1 * panel.get_ylim()[1])


def svg(figure, salt):
    """The chart as an SVG element whose ids no other chart has."""
    matplotlib.rcParams['svg.hashsalt'] = salt
    # Words stay words: they can be searched, and take less room.
    matplotlib.rcParams['svg.fonttype'] = 'none'
    output = io.StringIO()
    figure.savefig(output, format='svg', metadata={'Date': None})
    pyplot.close(figure)
    text = output.getvalue()
    lines = text[text.index('<svg') :].splitlines()
    return '\n'.join(line.rstrip() for line in lines) + '\n'
