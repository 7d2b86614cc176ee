# SPDX-License-Identifier: Apache-2.0

"""Charts of the experiments: one function each, named after the experiment.

Each takes the points of a run, and yields (caption, figure). Bar charts are in
:mod:`bench.bar_charts`.
"""

from bench import drawing
from bench import propagation as propagation_experiment
from bench import summary

_TARGET_RATE = 'target rate of revocations per second'


def revocations(points):
    """Rate and 99th percentile against the number of events."""
    rate = (
        'Validations per second with 20 clients, by number of live revocation '
        f'events. {drawing.MEDIAN}'
    )
    p99 = (
        '99th percentile of the validations, median of the rounds. '
        'Logarithmic scale.'
    )
    for name, ylabel, caption in (
        ('rate', 'validations per second', rate),
        ('p99', 'milliseconds', p99),
    ):
        yield drawing.chart(
            caption, points, 'kind', _events, sharey=True, name=name,
            ylabel=ylabel,
        )  # fmt: skip


def _events(panel, points, name, ylabel):
    drawing.lines(
        panel, points, 'events', name, title=f'{points[0]["kind"]} events',
        xlabel='live events (logarithmic)', ylabel=ylabel,
    )  # fmt: skip
    counts = [point['events'] for point in points]
    panel.set_xscale('symlog', linthresh=min(filter(None, counts), default=1))
    panel.set_xticks(counts, [f'{count:,}' for count in counts])
    panel.tick_params(axis='x', which='minor', bottom=False)
    if name == 'p99':
        panel.set_yscale('log')
        panel.yaxis.set_major_formatter('{x:,.0f}')
    else:
        panel.set_ylim(bottom=0)


def mixed(points):
    """Rate and loss by revocations per second."""
    figure, (rate, loss) = drawing.grid(2)
    drawing.lines(
        rate, points, 'asked', title='Validations', ylim=(0, None),
        xlabel=_TARGET_RATE, ylabel='validations per second',
    )  # fmt: skip
    targets = [point['asked'] for point in points]
    for side in summary.sides(points[0]):
        for name, style in (('loss', {}), ('work', {'linestyle': ':'})):
            if points[0][side][name] is None:
                continue
            values = [100 * point[side][name] for point in points]
            style = {**drawing.SIDES[side], **style}
            loss.plot(targets, values, label=f'{side}: {name}', **style)
    loss.set(
        title='Loss, and work of the revocations themselves',
        xlabel=_TARGET_RATE,
        ylabel='percent',
    )
    loss.axhline(0, color='black', linewidth=0.8)
    loss.legend()
    caption = (
        'Validations by 20 clients while other tokens are revoked. The loss '
        'is relative to the same side without revocations; the dotted line '
        'is the share of the processes\' time used by the revocations '
        'themselves.'
    )
    yield caption, figure


def prune(points):
    """First revocations, and the 99th percentile during pruning."""
    *latencies, pruning = points
    figure, (first, validations) = drawing.grid(2)
    _first_revocation(first, latencies)
    for position, name in enumerate(('quiet', 'pruning')):
        values = [measured['p99'] for measured in pruning[name]]
        validations.plot(
            [position] * len(values), values, 'o',
            color=drawing.SIDES['patched']['color'], alpha=0.6,
        )  # fmt: skip
    validations.set_xlim(-0.5, 1.5)
    drawing.start_at_zero(validations)
    validations.set_xticks([0, 1], ['without pruning', 'with pruning'])
    validations.set(
        title='Validations, patched', ylabel='99th percentile in milliseconds'
    )
    caption = (
        'Left: DELETE /v3/auth/tokens without and with expired rows, median. '
        'Right: 20 clients that validate and five revocations per second; '
        'each point is a time slice.'
    )
    yield caption, figure


def _first_revocation(panel, points):
    for side in summary.sides(points[0]):
        values = [point[side]['ms'] for point in points]
        style = drawing.SIDES[side]
        panel.plot(range(len(values)), values, label=side, **style)
        for position, value in enumerate(values):
            # Above the mark for stock, below for patched: at 0 they coincide.
            shift = 8 if side == 'stock' else -16
            panel.annotate(
                f'{value:,.0f}', (position, value), (0, shift),
                textcoords='offset points', ha='center',
            )  # fmt: skip
    panel.set_yscale('log')
    panel.margins(0.2, 0.25)
    expired = [f'{point["expired"]:,}' for point in points]
    panel.set_xticks(range(len(points)), expired)
    panel.set(
        title='First revocation',
        xlabel='expired rows in the table',
        ylabel='milliseconds (logarithmic)',
    )
    panel.legend()


def catalog(points):
    """Rates by number of endpoints."""
    caption = (
        'Validating a token, and exchanging it for another one of the same '
        f'project, with catalogs of different sizes. {drawing.MEDIAN}'
    )
    yield drawing.chart(
        caption, points, 'load', drawing.lines, x='endpoints',
        xlabel='endpoints in the catalog', ylabel='responses per second',
        ylim=(0, None),
    )  # fmt: skip


def living(points):
    """Rates by rate of the writes, and relative rates with a write loop."""
    loops = [point for point in points if point['pace'] == 'loop']
    loop_cases = {point['case'] for point in loops}
    steady = [
        {**one, 'x': 0 if one['pace'] == 'quiet' else float(one['pace'][:-2])}
        for one in points
        if one['case'] not in loop_cases
    ]
    if steady:
        caption = (
            'Validations of 50 tokens in turn by two clients, during '
            f'unrelated writes. {drawing.MEDIAN}'
        )
        steady.sort(key=lambda one: one['x'])
        yield drawing.chart(
            caption, steady, 'case', drawing.lines, x='x', from_zero=True,
            xlabel='rounds of writes per second',
            ylabel='validations per second',
        )  # fmt: skip
    if loops:
        caption = (
            'Rate of validations while one ordinary user creates and deletes '
            'something in a loop, as a percentage of the same side\'s rate '
            'without writes.'
        )
        yield drawing.chart(
            caption, loops, None, drawing.bars, name='of_own_0',
            label=lambda one: one['case'].removeprefix('own-'), factor=100,
            ylabel='percentage of the rate without writes',
        )  # fmt: skip


def memory(points):
    """Memory of a process by events, and by tokens."""

    def draw(panel, points):
        title, xlabel = f'{points[0]["kind"]} events', 'live events'
        if points[0]['kind'] == 'tokens':
            title = 'validated tokens'
            xlabel = 'tokens validated by each process'
        drawing.lines(
            panel, points, 'number', 'pss', from_zero=True, title=title,
            xlabel=xlabel, ylabel='MiB per process',
        )  # fmt: skip

    caption = (
        'Memory of a worker process (proportional set size), mean of the '
        'processes.'
    )
    yield drawing.chart(caption, points, 'kind', draw)


def regions(points):
    """Cumulative distributions, a chart for each delay and load."""

    def environment(point):
        return (
            f'{point["nodes"]} nodes on {point["database"]}, {point["case"]} '
            f'round trip time of {point["delay"]} ms, {point["load"]} load'
        )

    def draw(panel, points):
        for side in summary.sides(points[0]):
            panel.plot(
                points[0][side]['cumulative'], range(101), label=side,
                markevery=10, **drawing.SIDES[side],
            )  # fmt: skip
        panel.set_xlim(left=0)
        panel.set(xlabel='ms', ylabel='% of the responses')
        panel.legend()

    for name, group in summary.grouped(points, environment).items():
        caption = f'Cumulative distribution of response times: {name}.'
        yield drawing.chart(caption, group, 'request', draw)


def propagation(points):
    """Seconds until the last node rejected a token."""
    limit = propagation_experiment.LIMIT
    figure, (panel,) = drawing.grid(1)
    names = [f'{point["case"]}\n{point["delay"]} ms' for point in points]
    for side in ('stock', 'patched'):
        numbers = [n for n, point in enumerate(points) if side in point]
        for name, style in (('median', {}), ('most', {'fillstyle': 'none'})):
            values = [points[number][side][name] for number in numbers]
            panel.plot(
                numbers,
                [limit if value is None else value for value in values],
                label=f'{side}, {"maximum" if name == "most" else name}',
                **{**drawing.SIDES[side], **style, 'linestyle': ''},
            )
    panel.set_xticks(range(len(names)), names, rotation=45)
    panel.set_ylabel('seconds')
    drawing.start_at_zero(panel)
    panel.legend()
    caption = (
        'Time from the response to a revocation to the first request rejected '
        'by the last of the other nodes, by cache arrangement and round trip '
        f'time; {limit} s and more are shown as {limit}.'
    )
    yield caption, figure


def endurance(points):
    """The 99th percentile and the memory of a process over time."""
    figure, panels = drawing.grid(2)
    fields = {
        'p99': '99th percentile in milliseconds', 'pss': 'MiB per process',
    }  # fmt: skip
    for panel, (name, label) in zip(panels, fields.items(), strict=True):
        drawing.lines(
            panel, points, 'slice', name, from_zero=True, title=label,
            xlabel='time slice', ylabel=label,
        )  # fmt: skip
    caption = (
        'Validations at 70 percent of each side\'s maximum rate, with writes, '
        'revocations and pruning. The first time slice is at the maximum rate.'
    )
    yield caption, figure
