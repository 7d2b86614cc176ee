# SPDX-License-Identifier: Apache-2.0

"""Charts of bars, see :mod:`bench.charts`."""

from bench import drawing
from bench import summary
from bench import table


def warm(points):
    """Rates, and times at a steady rate."""
    figure, (rates, times) = drawing.grid(2)
    steady = [point for point in points if point['load'] == 'offered']
    other = [point for point in points if point['load'] != 'offered']
    labels = [
        'GET /v3'
        if one['load'] == 'version'
        else f'{one["endpoints"]} endpoints'
        for one in other
    ]
    drawing.bars(rates, other, labels)
    rates.set(title='as often as answered', ylabel='answers per second')
    labels = [f'{one["endpoints"]} endpoints' for one in steady]
    drawing.bars(times, steady, labels, 'p99', '{:.1f}')
    times.set(title='at a steady rate', ylabel='99th percentile, milliseconds')
    caption = (
        'One token validated again and again. Left: by 20 clients, with GET '
        '/v3 beside it. Right: at the same rate on both sides. '
        f'{drawing.MEDIAN}'
    )
    return [(caption, drawing.svg(figure, 'warm'))]


def s3(points):
    """Checked requests per second."""
    caption = (
        'Signed requests that Keystone checks per second, of four clients '
        f'with four credentials. {drawing.MEDIAN}'
    )
    return [(caption, drawing.kinds(points, 'requests per second', 's3'))]


def radosgw(points):
    """How long requests of S3 take, and what they cost Keystone."""
    figure, panels = drawing.grid(4)
    fields = {'p95': '95th percentile, milliseconds', 'cpu': 'CPU, ms'}
    for row, cache in enumerate(('off', 'one')):
        rows = [
            point
            for point in points
            if point['cache'] == cache
            and point['kind'] in ('get', 'put', 'list', 'hashed')
        ]
        labels = [point['kind'] for point in rows]
        for panel, name in zip(panels[2 * row :], fields, strict=False):
            drawing.bars(panel, rows, labels, name, '{:.1f}')
            panel.set(
                title=f'token cache of RadosGW: {cache}', ylabel=fields[name]
            )
    caption = (
        'Small requests of S3 by four clients. Left: the slowest of 20. '
        'Right: what Keystone uses of the processors for each. Above: without '
        'the token cache of RadosGW, hashed: while nobody remembers that its '
        'password was right. Below: it keeps its own token alone.'
    )
    return [(caption, drawing.svg(figure, 'radosgw'))]


def rotation(points):
    """Validations per second of tokens in turns."""
    caption = (
        f'Validations of {points[0]["tokens"]:,} tokens in turns per second, '
        f'20 clients: with nothing else, and while 10 tokens are revoked and '
        f'a project is created each second. {drawing.MEDIAN}'
    )
    return [
        (caption, drawing.kinds(points, 'validations per second', 'rotation'))
    ]


def services(points):
    """Rates by how tokens are validated."""

    def draw(panel, rows, case):
        if case == 'processes':
            rows = [one for one in rows if one['load'] == 'all services']
        several = len({one['where'] for one in rows}) > 1
        labels = [
            f'{one["load"]}\n{one["where"]}' if several else one['load']
            for one in rows
        ]
        drawing.bars(panel, rows, labels)
        panel.set(title=case, ylabel='answers per second')
        panel.tick_params(axis='x', labelsize='small')

    caption = (
        'Tokens that several services validate once each, and once more; '
        'tokens for tokens; and requests to a service behind '
        f'keystonemiddleware. {drawing.MEDIAN}'
    )
    return [(caption, drawing.panels(points, 'case', draw, 'services'))]


def tokens(points):
    """Rates of each load, and what it asks of memcached."""

    def draw(panel, rows, load):
        drawing.bars(panel, rows, [point['cache'] for point in rows])
        panel.set(title=load, xlabel='cache', ylabel='requests per second')

    caption = (
        'Tokens created with a password, and validated, per second. Median '
        'of the runs; the bars span the least and the most.'
    )
    found = [(caption, drawing.panels(points, _load, draw, 'tokens'))]
    rows = [point for point in points if point['cache'] == 'memcached']
    if rows:
        figure, panels = drawing.grid(2)
        units = {'gets': 'keys read', 'bytes': 'bytes, both ways'}
        for (name, unit), panel in zip(units.items(), panels, strict=True):
            labels = [_load(one).replace(', ', '\n') for one in rows]
            drawing.bars(panel, rows, labels, name)
            panel.set_ylabel(f'{unit}, for each request')
        caption = 'What one request asks of memcached. Median of the runs.'
        found.append((caption, drawing.svg(figure, 'tokens traffic')))
    return found


def formats(points):
    """Time of one client's answers, and rate of several clients'."""

    def draw(panel, rows, load):
        labels = [point['format'] for point in rows]
        if rows[0]['clients'] == 1:
            drawing.bars(panel, rows, labels, 'ms', '{:.1f}')
            unit = 'milliseconds for an answer'
        else:
            drawing.bars(panel, rows, labels)
            unit = 'requests per second'
        panel.set(title=load, ylabel=unit)

    caption = (
        'Left: the mean time of an answer with one client. Right: requests '
        'per second of several clients; the bars span the least and the most '
        'of the rounds.'
    )
    return [(caption, drawing.panels(points, _load, draw, 'formats'))]


def rally(points):
    """Rate of each scenario, for each database and delay."""
    places = {}
    for point in points:
        delay = f', {point["delay"]} ms away' if point['delay'] else ''
        places.setdefault(f'{point["database"]}{delay}', []).append(point)
    found = []
    for place, rows in places.items():
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
            f'{drawing.MEDIAN}'
        )
        found.append((caption, drawing.svg(figure, f'rally {place}')))
    return found


def _load(point):
    return f'{point["what"]}, {point["clients"]} at once'


def faults(points):
    """Share of failed requests for each fault, a chart for each cluster."""
    found = []
    for case in dict.fromkeys(point['case'] for point in points):
        figure, (panel,) = drawing.grid(1)
        rows = [
            point
            for point in points
            if point['case'] == case and 'lost' not in point['stock']
        ]
        width = 0.4
        for place, side in enumerate(summary.sides(rows[0])):
            panel.barh(
                [number + place * width for number in range(len(rows))],
                [
                    100 * row[side]['failed'] / row[side]['requests']
                    for row in rows
                ],
                width, label=side, color=drawing.SIDES[side]['color'],
                hatch='//' if side == 'stock' else None,
            )  # fmt: skip
        panel.set_yticks(range(len(rows)), [row['fault'] for row in rows])
        panel.set_xlabel('percentage of failed requests')
        panel.legend()
        caption = f'Requests that failed during and after a fault: {case}.'
        found.append((caption, drawing.svg(figure, f'faults {case}')))
    return found
