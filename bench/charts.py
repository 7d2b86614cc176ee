# SPDX-License-Identifier: Apache-2.0

"""Charts of the experiments: one function each, named after the experiment.

Each takes the points of a run, and returns a list of (caption, SVG). Those of
bars are in :mod:`bench.bar_charts`.
"""

from bench import drawing
from bench import propagation as cluster
from bench import summary

_ASKED = 'revocations per second, asked for'


def revocations(points):
    """Rate and 99th percentile against the number of events."""
    rate = (
        'Validations per second by 20 clients against live revocation events. '
        f'{drawing.MEDIAN}'
    )
    p99 = (
        'The slowest of 100 validations (99th percentile), median of the '
        'rounds. Logarithmic.'
    )
    return [
        drawing.chart(
            caption, f'revocations {name}', points, 'kind', _events,
            sharey=True, name=name, ylabel=unit,
        )
        for name, unit, caption in (
            ('rate', 'validations per second', rate),
            ('p99', 'milliseconds', p99),
        )
    ]  # fmt: skip


def _events(panel, rows, name, ylabel):
    drawing.lines(
        panel, rows, 'events', name, title=f'{rows[0]["kind"]} events',
        xlabel='live events (logarithmic)', ylabel=ylabel,
    )  # fmt: skip
    least = min((one['events'] for one in rows if one['events']), default=1)
    panel.set_xscale('symlog', linthresh=least)
    events = [point['events'] for point in rows]
    panel.set_xticks(events, [f'{count:,}' for count in events])
    panel.tick_params(axis='x', which='minor', bottom=False)
    if name == 'p99':
        panel.set_yscale('log')
        panel.yaxis.set_major_formatter('{x:,.0f}')
    else:
        panel.set_ylim(bottom=0)


def mixed(points):
    """Rate and loss against revocations per second."""
    figure, (rate, loss) = drawing.grid(2)
    drawing.lines(
        rate, points, 'asked', title='What is left', ylim=(0, None),
        xlabel=_ASKED, ylabel='validations per second',
    )  # fmt: skip
    asked = [point['asked'] for point in points]
    for side in summary.sides(points[0]):
        for name, style in (('loss', {}), ('work', {'linestyle': ':'})):
            if points[0][side][name] is None:
                continue
            values = [100 * point[side][name] for point in points]
            look = {**drawing.SIDES[side], **style}
            loss.plot(asked, values, label=f'{side}: {name}', **look)
    loss.set(
        title='What is lost, and what revoking itself takes',
        xlabel=_ASKED,
        ylabel='per cent',
    )
    loss.axhline(0, color='black', linewidth=0.8)
    loss.legend()
    caption = (
        'Validations of 20 clients while other tokens are revoked. The loss '
        'is that of each side against itself without revocations; the dotted '
        'line is the share of the processes\' time that the revocations '
        'need for themselves.'
    )
    return [(caption, drawing.svg(figure, 'mixed'))]


def prune(points):
    """The first revocation, and the 99th percentile while pruning."""
    *latencies, pruning = points
    figure, (first, beside) = drawing.grid(2)
    _first_revocation(first, latencies)
    for place, name in enumerate(('quiet', 'pruning')):
        values = [one['p99'] for one in pruning[name]]
        beside.plot(
            [place] * len(values), values, 'o',
            color=drawing.SIDES['patched']['color'], alpha=0.6,
        )  # fmt: skip
    beside.set_xlim(-0.5, 1.5)
    drawing.stand_on_zero(beside)
    beside.set_xticks([0, 1], ['quiet', 'while pruning'])
    beside.set(
        title='Validations, patched', ylabel='99th percentile, milliseconds'
    )
    caption = (
        'Left: DELETE /v3/auth/tokens without and with expired rows, median. '
        'Right: 20 validating clients and five revocations per second; each '
        'point is a slice of time.'
    )
    return [(caption, drawing.svg(figure, 'prune'))]


def _first_revocation(panel, points):
    for side in summary.sides(points[0]):
        values = [point[side]['ms'] for point in points]
        style = drawing.SIDES[side]
        panel.plot(range(len(values)), values, label=side, **style)
        for place, value in enumerate(values):
            # Stock above its mark, patched below: at 0 they coincide.
            shift = 8 if side == 'stock' else -16
            panel.annotate(
                f'{value:,.0f}', (place, value), (0, shift),
                textcoords='offset points', ha='center',
            )  # fmt: skip
    panel.set_yscale('log')
    panel.margins(0.2, 0.25)
    expired = [f'{point["expired"]:,}' for point in points]
    panel.set_xticks(range(len(points)), expired)
    panel.set(
        title='The first revocation',
        xlabel='expired rows in the table',
        ylabel='milliseconds (logarithmic)',
    )
    panel.legend()


def catalog(points):
    """Rates against the number of endpoints."""
    caption = (
        'Validating a token, and exchanging one for another of the same '
        f'project, with catalogs of several sizes. {drawing.MEDIAN}'
    )
    return [
        drawing.chart(
            caption, 'catalog', points, 'load', drawing.lines, x='endpoints',
            xlabel='endpoints in the catalog', ylabel='answers per second',
            ylim=(0, None),
        )
    ]  # fmt: skip


def living(points):
    """Rates against the pace of the writes, and shares beside a loop."""
    loops = [point for point in points if point['pace'] == 'loop']
    own = {point['case'] for point in loops}
    steady = [
        {**one, 'x': 0 if one['pace'] == 'quiet' else float(one['pace'][:-2])}
        for one in points
        if one['case'] not in own
    ]
    found = []
    if steady:
        caption = (
            'Validations of 50 tokens in turns by two clients, while others '
            f'write what does not concern them. {drawing.MEDIAN}'
        )
        steady.sort(key=lambda one: one['x'])
        found.append(
            drawing.chart(
                caption, 'living', steady, 'case', drawing.lines, x='x',
                from_zero=True, xlabel='rounds of writes per second',
                ylabel='validations per second',
            )
        )  # fmt: skip
    if loops:
        caption = (
            'What is left of each side\'s validations while one ordinary '
            'user creates and deletes something of their own in a loop.'
        )
        found.append(
            drawing.chart(
                caption, 'living own', loops, None, drawing.bars,
                label=lambda one: one['case'].removeprefix('own-'),
                name='of_own_0', factor=100,
                ylabel='per cent of the quiet rate',
            )
        )  # fmt: skip
    return found


def memory(points):
    """Memory of a process by events, and by tokens."""

    def draw(panel, rows):
        title, label = f'{rows[0]["kind"]} events', 'live events'
        if rows[0]['kind'] == 'tokens':
            title = 'validated tokens'
            label = 'tokens that each process has validated'
        drawing.lines(
            panel, rows, 'number', 'pss', from_zero=True, title=title,
            xlabel=label, ylabel='MiB for each process',
        )  # fmt: skip

    caption = (
        'Memory of a worker process (proportional set size), mean of the '
        'processes.'
    )
    return [drawing.chart(caption, 'memory', points, 'kind', draw)]


def regions(points):
    """Cumulative distributions, a chart for each delay and load."""

    def about(point):
        return (
            f'{point["nodes"]} nodes on {point["database"]}, {point["case"]} '
            f'round trip time of {point["delay"]} ms, {point["load"]} load'
        )

    def draw(panel, rows):
        for side in summary.sides(rows[0]):
            panel.plot(
                rows[0][side]['cumulative'], range(101), label=side,
                markevery=10, **drawing.SIDES[side],
            )  # fmt: skip
        panel.set_xlim(left=0)
        panel.set(xlabel='ms', ylabel='% of the responses')
        panel.legend()

    return [
        drawing.chart(
            f'Cumulative distribution of response times: {words}.',
            f'regions {words}', rows, 'request', draw,
        )
        for words, rows in summary.grouped(points, about).items()
    ]  # fmt: skip


def propagation(points):
    """Seconds until the last node rejected a token."""
    figure, (panel,) = drawing.grid(1)
    names = [f'{point["case"]}\n{point["delay"]} ms' for point in points]
    for side in ('stock', 'patched'):
        rows = [n for n, point in enumerate(points) if side in point]
        for name, style in (('median', {}), ('most', {'fillstyle': 'none'})):
            values = [points[row][side][name] for row in rows]
            panel.plot(
                rows,
                [cluster.LIMIT if one is None else one for one in values],
                label=f'{side}, {name}',
                **{**drawing.SIDES[side], **style, 'linestyle': ''},
            )
    panel.set_xticks(range(len(names)), names, rotation=45)
    panel.set_ylabel('seconds')
    drawing.stand_on_zero(panel)
    panel.legend()
    caption = (
        'Time from the response to a revocation to the first request rejected '
        'by the last of the other nodes, by cache arrangement and round trip '
        f'time; {cluster.LIMIT} s and more are shown as {cluster.LIMIT}.'
    )
    return [(caption, drawing.svg(figure, 'propagation'))]


def endurance(points):
    """The 99th percentile and the memory of a process over time."""
    figure, panels = drawing.grid(2)
    fields = {
        'p99': '99th percentile, milliseconds', 'pss': 'MiB for each process',
    }  # fmt: skip
    for panel, (name, label) in zip(panels, fields.items(), strict=True):
        drawing.lines(
            panel, points, 'slice', name, from_zero=True, title=label,
            xlabel='slice of time', ylabel=label,
        )  # fmt: skip
    caption = (
        'Validations at 70 per cent of each side\'s rate, with writes, '
        'revocations and pruning. The first slice is at the full rate.'
    )
    return [(caption, drawing.svg(figure, 'endurance'))]
