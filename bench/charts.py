# SPDX-License-Identifier: Apache-2.0

"""Charts of the experiments: one function each, named after the experiment."""

from bench import cluster_charts
from bench import drawing
from bench import summary
from bench import table

propagation = cluster_charts.propagation
faults = cluster_charts.faults

_SMALL = ('get', 'put', 'list')  # requests of S3


def revocations(points):
    """Rate and 99th percentile against the number of events.

    :param points: what :func:`bench.revocations.run` gave
    :returns: list of (caption, SVG)
    """
    kinds = list(dict.fromkeys(point['kind'] for point in points))
    captions = {
        'rate': (
            'Validations per second by 20 clients against live revocation '
            'events. Median of the rounds; the bars span the least and the '
            'most.',
            'validations per second',
        ),
        'p99': (
            'The slowest of 100 validations (99th percentile), median of the '
            'rounds. Logarithmic.',
            'milliseconds',
        ),
    }
    found = []
    for name, (caption, unit) in captions.items():
        figure, panels = drawing.grid(len(kinds), sharey=True)
        for kind, panel in zip(kinds, panels, strict=False):
            rows = [point for point in points if point['kind'] == kind]
            for side in summary.sides(points[0]):
                drawing.line(panel, rows, 'events', side, name)
            panel.set_xscale(
                'symlog', linthresh=drawing.smallest(rows, 'events')
            )
            events = [point['events'] for point in rows]
            panel.set_xticks(events, [f'{count:,}' for count in events])
            panel.tick_params(axis='x', which='minor', bottom=False)
            panel.set_title(f'{kind} events')
            panel.set_xlabel('live events (logarithmic)')
            panel.set_ylabel(unit)
            if name == 'p99':
                panel.set_yscale('log')
                panel.yaxis.set_major_formatter('{x:,.0f}')
            else:
                panel.set_ylim(bottom=0)
        found.append((caption, drawing.svg(figure, f'revocations {name}')))
    return found


def mixed(points):
    """Rate and loss against revocations per second.

    :param points: what :func:`bench.mixed.run` gave
    :returns: list of (caption, SVG)
    """
    figure, (rate, loss) = drawing.grid(2)
    for side in summary.sides(points[0]):
        drawing.line(rate, points, 'asked', side, 'rate')
        asked = [point['asked'] for point in points]
        for name, style in (('loss', {}), ('work', {'linestyle': ':'})):
            if points[0][side][name] is None:
                continue
            values = [100 * point[side][name] for point in points]
            label = f'{side}: {name}'
            look = {**drawing.SIDES[side], **style}
            loss.plot(asked, values, label=label, **look)
    rate.set_ylim(bottom=0)
    rate.set_title('What is left')
    rate.set_ylabel('validations per second')
    loss.set_title('What is lost, and what revoking itself takes')
    loss.set_ylabel('per cent')
    loss.axhline(0, color='black', linewidth=0.8)
    for panel in (rate, loss):
        panel.set_xlabel('revocations per second, asked for')
    loss.legend()
    caption = (
        'Validations of 20 clients while other tokens are revoked. The loss '
        'is that of each side against itself without revocations; the dotted '
        'line is the share of the processes\' time that the revocations '
        'need for themselves.'
    )
    return [(caption, drawing.svg(figure, 'mixed'))]


def prune(points):
    """The first revocation, and the 99th percentile while pruning.

    :param points: what :func:`bench.prune.run` gave
    :returns: list of (caption, SVG)
    """
    *latencies, pruning = points
    figure, (first, beside) = drawing.grid(2)
    for side in summary.sides(latencies[0]):
        style = drawing.SIDES[side]
        values = [point[side]['ms'] for point in latencies]
        first.plot(range(len(values)), values, label=side, **style)
        for place, value in enumerate(values):
            # Stock above its mark, patched below: at 0 they coincide.
            shift = 8 if side == 'stock' else -16
            first.annotate(
                f'{value:,.0f}', (place, value), (0, shift),
                textcoords='offset points', ha='center',
            )  # fmt: skip
    first.set_yscale('log')
    first.margins(0.2, 0.25)
    first.set_xticks(
        range(len(latencies)), [f'{point["expired"]:,}' for point in latencies]
    )
    first.set_title('The first revocation')
    first.set_xlabel('expired rows in the table')
    first.set_ylabel('milliseconds (logarithmic)')
    first.legend()
    for place, name in enumerate(('quiet', 'pruning')):
        values = [one['p99'] for one in pruning[name]]
        beside.plot(
            [place] * len(values), values, 'o',
            color=drawing.SIDES['patched']['color'], alpha=0.6,
        )  # fmt: skip
    beside.set_xlim(-0.5, 1.5)
    drawing.from_zero(beside)
    beside.set_xticks([0, 1], ['quiet', 'while pruning'])
    beside.set_title('Validations, patched')
    beside.set_ylabel('99th percentile, milliseconds')
    caption = (
        'Left: DELETE /v3/auth/tokens without and with expired rows, median. '
        'Right: 20 validating clients and five revocations per second; each '
        'point is a slice of time.'
    )
    return [(caption, drawing.svg(figure, 'prune'))]


def catalog(points):
    """Rates against the number of endpoints.

    :param points: what :func:`bench.catalog.run` gave
    :returns: list of (caption, SVG)
    """
    loads = list(dict.fromkeys(point['load'] for point in points))
    figure, panels = drawing.grid(len(loads))
    for load, panel in zip(loads, panels, strict=True):
        rows = [point for point in points if point['load'] == load]
        for side in summary.sides(points[0]):
            drawing.line(panel, rows, 'endpoints', side, 'rate')
        panel.set_ylim(bottom=0)
        panel.set_title(load)
        panel.set_xlabel('endpoints in the catalog')
        panel.set_ylabel('answers per second')
    caption = (
        'Validating a token, and exchanging one for another of the same '
        'project, with catalogs of several sizes. Median of the rounds; the '
        'bars span the least and the most.'
    )
    return [(caption, drawing.svg(figure, 'catalog'))]


def warm(points):
    """Rates, and times at a steady rate.

    :param points: what :func:`bench.warm.run` gave
    :returns: list of (caption, SVG)
    """
    figure, (rates, times) = drawing.grid(2)
    steady = [point for point in points if point['load'] == 'offered']
    other = [point for point in points if point['load'] != 'offered']
    labels = {'version': 'GET /v3'}
    drawing.bars(
        rates,
        other,
        [
            labels.get(one['load'], f'{one["endpoints"]} endpoints')
            for one in other
        ],
    )
    rates.set_title('as often as answered')
    rates.set_ylabel('answers per second')
    drawing.bars(
        times,
        steady,
        [f'{one["endpoints"]} endpoints' for one in steady],
        'p99',
        '{:.1f}',
    )
    times.set_title('at a steady rate')
    times.set_ylabel('99th percentile, milliseconds')
    caption = (
        'One token validated again and again. Left: by 20 clients, with GET '
        '/v3 beside it. Right: at the same rate on both sides. Median of the '
        'rounds; the bars span the least and the most.'
    )
    return [(caption, drawing.svg(figure, 'warm'))]


def s3(points):
    """Checked requests per second.

    :param points: what :func:`bench.s3.run` gave
    :returns: list of (caption, SVG)
    """
    caption = (
        'Signed requests that Keystone checks per second, four clients with a '
        'credential each. Median of the rounds; the bars span the least and '
        'the most.'
    )
    return [(caption, _by_kind(points, 'requests per second', 's3'))]


def radosgw(points):
    """How long requests of S3 take, and what they cost Keystone.

    :param points: what :func:`bench.radosgw.run` gave
    :returns: list of (caption, SVG)
    """
    figure, panels = drawing.grid(4)
    fields = {'p95': '95th percentile, milliseconds', 'cpu': 'CPU, ms'}
    for row, cache in enumerate(('off', 'one')):
        rows = [
            point
            for point in points
            if point['cache'] == cache and point['kind'] in (*_SMALL, 'hashed')
        ]
        labels = [point['kind'] for point in rows]
        for panel, name in zip(panels[2 * row :], fields, strict=False):
            drawing.bars(panel, rows, labels, name, '{:.1f}')
            panel.set_title(f'token cache of RadosGW: {cache}')
            panel.set_ylabel(fields[name])
    caption = (
        'Small requests of S3 by four clients. Left: the slowest of 20. '
        'Right: what Keystone uses of the processors for each. Above: without '
        'the token cache of RadosGW, hashed: while nobody remembers that its '
        'password was right. Below: it keeps its own token alone.'
    )
    return [(caption, drawing.svg(figure, 'radosgw'))]


def rotation(points):
    """Validations per second of tokens in turns.

    :param points: what :func:`bench.rotation.run` gave
    :returns: list of (caption, SVG)
    """
    caption = (
        f'Validations of {points[0]["tokens"]:,} tokens in turns per second, '
        f'20 clients: with nothing else, and while 10 tokens are revoked and '
        f'a project is created each second. Median of the rounds; the bars '
        f'span the least and the most.'
    )
    return [(caption, _by_kind(points, 'validations per second', 'rotation'))]


def living(points):
    """Rates against the pace of the writes, and shares beside a loop.

    :param points: what :func:`bench.living.run` gave
    :returns: list of (caption, SVG)
    """
    loops = [point for point in points if point['pace'] == 'loop']
    own = {point['case'] for point in loops}
    cases = list(dict.fromkeys(point['case'] for point in points))
    steady = [case for case in cases if case not in own]
    found = []
    if steady:
        figure, panels = drawing.grid(len(steady))
        for case, panel in zip(steady, panels, strict=True):
            rows = sorted(
                ({**one, 'x': _pace(one)} for one in points
                 if one['case'] == case),
                key=lambda one: one['x'],
            )  # fmt: skip
            for side in summary.sides(rows[0]):
                drawing.line(panel, rows, 'x', side, 'rate')
            drawing.from_zero(panel)
            panel.set_title(case)
            panel.set_xlabel('rounds of writes per second')
            panel.set_ylabel('validations per second')
        caption = (
            'Validations of 50 tokens in turns by two clients, while others '
            'write what does not concern them. Median of the rounds; the '
            'bars span the least and the most.'
        )
        found.append((caption, drawing.svg(figure, 'living')))
    if loops:
        figure, (panel,) = drawing.grid(1)
        drawing.bars(
            panel,
            [_in_percent(point) for point in loops],
            [point['case'].removeprefix('own-') for point in loops],
            'percent',
        )
        panel.set_ylabel('per cent of the quiet rate')
        caption = (
            'What is left of each side\'s validations while one ordinary '
            'user creates and deletes something of their own in a loop.'
        )
        found.append((caption, drawing.svg(figure, 'living own')))
    return found


def services(points):
    """Rates by how tokens are validated.

    :param points: what :func:`bench.services.run` gave
    :returns: list of (caption, SVG)
    """
    cases = list(dict.fromkeys(point['case'] for point in points))
    figure, panels = drawing.grid(len(cases))
    for case, panel in zip(cases, panels, strict=True):
        rows = [point for point in points if point['case'] == case]
        if case == 'processes':
            rows = [one for one in rows if one['load'] == 'all services']
        several = len({one['where'] for one in rows}) > 1
        labels = [
            f'{one["load"]}\n{one["where"]}' if several else one['load']
            for one in rows
        ]
        drawing.bars(panel, rows, labels)
        panel.set_title(case)
        panel.set_ylabel('answers per second')
        panel.tick_params(axis='x', labelsize='small')
    caption = (
        'Tokens that several services validate once each, and once more; '
        'tokens for tokens; and requests to a service behind '
        'keystonemiddleware. Median of the rounds; the bars span the least '
        'and the most.'
    )
    return [(caption, drawing.svg(figure, 'services'))]


def tokens(points):
    """Rates of each load, and what it asks of memcached.

    :param points: what :func:`bench.tokens.run` gave
    :returns: list of (caption, SVG)
    """
    loads = list(dict.fromkeys(map(_load, points)))
    figure, panels = drawing.grid(len(loads))
    for load, panel in zip(loads, panels, strict=True):
        rows = [point for point in points if _load(point) == load]
        drawing.bars(panel, rows, [point['cache'] for point in rows])
        panel.set_title(load)
        panel.set_xlabel('cache')
        panel.set_ylabel('requests per second')
    caption = (
        'Tokens created with a password, and validated, per second. Median '
        'of the runs; the bars span the least and the most.'
    )
    found = [(caption, drawing.svg(figure, 'tokens'))]
    rows = [point for point in points if point['cache'] == 'memcached']
    if rows:
        figure, panels = drawing.grid(2)
        units = {'gets': 'keys read', 'bytes': 'bytes, both ways'}
        for (name, unit), panel in zip(units.items(), panels, strict=True):
            labels = [
                f'{one["what"]}\n{one["clients"]} at once' for one in rows
            ]
            drawing.bars(panel, rows, labels, name)
            panel.set_ylabel(f'{unit}, for each request')
        caption = 'What one request asks of memcached. Median of the runs.'
        found.append((caption, drawing.svg(figure, 'tokens traffic')))
    return found


def formats(points):
    """Time of one client's answers, and rate of several clients'.

    :param points: what :func:`bench.formats.run` gave
    :returns: list of (caption, SVG)
    """
    loads = list(dict.fromkeys(map(_load, points)))
    figure, panels = drawing.grid(len(loads))
    for load, panel in zip(loads, panels, strict=True):
        rows = [point for point in points if _load(point) == load]
        labels = [point['format'] for point in rows]
        panel.set_title(load)
        if rows[0]['clients'] == 1:
            drawing.bars(panel, rows, labels, 'ms', '{:.1f}')
            panel.set_ylabel('milliseconds for an answer')
        else:
            drawing.bars(panel, rows, labels)
            panel.set_ylabel('requests per second')
    caption = (
        'Left: the mean time of an answer with one client. Right: requests '
        'per second of several clients; the bars span the least and the most '
        'of the rounds.'
    )
    return [(caption, drawing.svg(figure, 'formats'))]


def memory(points):
    """Memory of a process by events, and by tokens.

    :param points: what :func:`bench.memory.run` gave
    :returns: list of (caption, SVG)
    """
    kinds = list(dict.fromkeys(point['kind'] for point in points))
    figure, panels = drawing.grid(len(kinds))
    for kind, panel in zip(kinds, panels, strict=True):
        rows = [point for point in points if point['kind'] == kind]
        for side in summary.sides(rows[0]):
            drawing.line(panel, rows, 'number', side, 'pss')
        drawing.from_zero(panel)
        if kind == 'tokens':
            panel.set_title('validated tokens')
            panel.set_xlabel('tokens that each process has validated')
        else:
            panel.set_title(f'{kind} events')
            panel.set_xlabel('live events')
        panel.set_ylabel('MiB for each process')
    caption = (
        'Memory of a worker process (proportional set size), mean of the '
        'processes.'
    )
    return [(caption, drawing.svg(figure, 'memory'))]


def rally(points):
    """Rate of each scenario, for each database and delay.

    :param points: what :func:`bench.rally.run` gave
    :returns: list of (caption, SVG)
    """
    found = []
    for place in dict.fromkeys(map(_place, points)):
        rows = [point for point in points if _place(point) == place]
        figure, (panel,) = drawing.grid(1)
        figure.set_size_inches(10, 5)
        labels = [
            point['scenario'].replace('_and_', '\nand_') for point in rows
        ]
        drawing.bars(panel, rows, labels, form=table.rate)
        panel.tick_params('x', rotation=20)
        panel.set_ylabel('iterations per second')
        caption = (
            f'Scenarios of rally on {place}, {rows[0]["clients"]} at once. '
            f'Median of the rounds; the bars span the least and the most.'
        )
        found.append((caption, drawing.svg(figure, f'rally {place}')))
    return found


def _place(point):
    delay = f', {point["delay"]} ms away' if point['delay'] else ''
    return f'{point["database"]}{delay}'


def _pace(point):
    """Rounds of writes per second as a number."""
    words = point['pace'].partition('/s')
    return float(words[0]) if words[1] else 0


def _in_percent(point):
    """A point whose sides have their share of their own rate as well."""
    sides = {
        side: {**point[side], 'percent': 100 * point[side]['of_own_0']}
        for side in summary.sides(point)
    }
    return {**point, **sides}


def _load(point):
    return f'{point["what"]}, {point["clients"]} at once'


def _by_kind(points, unit, salt):
    figure, (panel,) = drawing.grid(1)
    drawing.bars(panel, points, [point['kind'] for point in points])
    panel.set_ylabel(unit)
    return drawing.svg(figure, salt)
