# SPDX-License-Identifier: Apache-2.0

"""Charts of bars, see :mod:`bench.charts`."""

from bench import drawing
from bench import summary
from bench import table


def warm(points):
    """Rates, and times at a steady rate."""
    figure, (rates, times) = drawing.grid(2)
    drawing.bars(
        rates, [one for one in points if one['load'] != 'offered'], _endpoints,
        title='as often as answered', ylabel='answers per second',
    )  # fmt: skip
    drawing.bars(
        times, [one for one in points if one['load'] == 'offered'], _endpoints,
        'p99', '{:.1f}', title='at a steady rate',
        ylabel='99th percentile, milliseconds',
    )  # fmt: skip
    caption = (
        'One token validated again and again. Left: by 20 clients, with '
        'tokens for the system and of a trust, and GET /v3, beside it. '
        'Right: at the same rate on both sides. '
        f'{drawing.MEDIAN}'
    )
    return [(caption, drawing.svg(figure, 'warm'))]


def _endpoints(point):
    if point['load'] == 'version':
        return 'GET /v3'
    if point['load'] in ('system', 'trust'):
        return point['load']
    return f'{point["endpoints"]} endpoints'


def s3(points):
    """Checked requests per second."""
    caption = (
        'Signed requests that Keystone checks per second, of four clients '
        f'with four credentials. {drawing.MEDIAN}'
    )
    return [_kinds(caption, 's3', points, 'requests per second')]


def rotation(points):
    """Validations per second of tokens in turns."""
    caption = (
        f'Validations of {points[0]["tokens"]:,} tokens in turns per second, '
        f'20 clients: with nothing else, and while 10 tokens are revoked and '
        f'a project is created each second. {drawing.MEDIAN}'
    )
    return [_kinds(caption, 'rotation', points, 'validations per second')]


def _kinds(caption, salt, points, unit):
    return drawing.chart(
        caption, salt, points, None, drawing.bars, label='kind', ylabel=unit
    )


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
        for panel, name in zip(panels[2 * row :], fields, strict=False):
            drawing.bars(
                panel, rows, 'kind', name, '{:.1f}', ylabel=fields[name],
                title=f'token cache of RadosGW: {cache}',
            )  # fmt: skip
    caption = (
        'Small requests of S3 by four clients. Left: the slowest of 20. '
        'Right: what Keystone uses of the processors for each. Above: without '
        'the token cache of RadosGW, hashed: while nobody remembers that its '
        'password was right. Below: it keeps its own token alone.'
    )
    return [(caption, drawing.svg(figure, 'radosgw'))]


def services(points):
    """Rates by how tokens are validated."""

    def draw(panel, rows):
        if rows[0]['case'] == 'processes':
            rows = [one for one in rows if one['load'] == 'all services']
        several = len({one['where'] for one in rows}) > 1
        drawing.bars(
            panel, rows, ylabel='answers per second',
            label=lambda one: (
                f'{one["load"]}\n{one["where"]}' if several else one['load']
            ),
        )  # fmt: skip
        panel.tick_params(axis='x', labelsize='small')

    caption = (
        'Tokens that several services validate once each, and once more; '
        'tokens for tokens; and requests to a service behind '
        f'keystonemiddleware. {drawing.MEDIAN}'
    )
    return [drawing.chart(caption, 'services', points, 'case', draw)]


def tokens(points):
    """Rates of each load, and what it asks of memcached."""
    caption = (
        'Tokens created with a password, and validated, per second. Median '
        'of the runs; the bars span the least and the most.'
    )
    found = [
        drawing.chart(
            caption, 'tokens', points, _load, drawing.bars, label='cache',
            xlabel='cache', ylabel='requests per second',
        )
    ]  # fmt: skip
    rows = [point for point in points if point['cache'] == 'memcached']
    if rows:
        figure, panels = drawing.grid(2)
        units = {'gets': 'keys read', 'bytes': 'bytes, both ways'}
        for (name, unit), panel in zip(units.items(), panels, strict=True):
            drawing.bars(
                panel, rows, lambda one: _load(one).replace(', ', '\n'), name,
                ylabel=f'{unit}, for each request',
            )  # fmt: skip
        caption = 'What one request asks of memcached. Median of the runs.'
        found.append((caption, drawing.svg(figure, 'tokens traffic')))
    return found


def formats(points):
    """Time of one client's answers, and rate of several clients'."""

    def draw(panel, rows):
        what = {'ylabel': 'requests per second'}
        if rows[0]['clients'] == 1:
            what = {
                'name': 'ms', 'form': '{:.1f}',
                'ylabel': 'milliseconds for an answer',
            }  # fmt: skip
        drawing.bars(panel, rows, 'format', **what)

    caption = (
        'Left: the mean time of an answer with one client. Right: requests '
        'per second of several clients; the bars span the least and the most '
        'of the rounds.'
    )
    return [drawing.chart(caption, 'formats', points, _load, draw)]


def _load(point):
    return f'{point["what"]}, {point["clients"]} at once'


def rally(points):
    """Rate of each scenario, for each database and delay."""

    def place(point):
        delay = f', {point["delay"]} ms away' if point['delay'] else ''
        return f'{point["database"]}{delay}'

    def draw(panel, rows):
        panel.figure.set_size_inches(10, 5)
        drawing.bars(
            panel, rows, form=table.rate, ylabel='iterations per second',
            label=lambda one: one['scenario'].replace('_and_', '\nand_'),
        )  # fmt: skip
        panel.tick_params('x', rotation=20)

    return [
        drawing.chart(
            f'Scenarios of rally on {where}, {rows[0]["clients"]} at once. '
            f'{drawing.MEDIAN}',
            f'rally {where}', rows, None, draw,
        )
        for where, rows in summary.grouped(points, place).items()
    ]  # fmt: skip


def faults(points):
    """Share of failed requests for each fault, a chart for each cluster."""
    faults = [point for point in points if 'lost' not in point['stock']]
    return [
        drawing.chart(
            f'Requests that failed during and after a fault: {case}.',
            f'faults {case}', rows, None, _failed,
        )
        for case, rows in summary.grouped(faults, 'case').items()
    ]  # fmt: skip


def _failed(panel, rows):
    width = 0.4
    for place, side in enumerate(summary.sides(rows[0])):
        sums = [row[side] for row in rows]
        panel.barh(
            [number + place * width for number in range(len(rows))],
            [100 * one['failed'] / one['requests'] for one in sums],
            width, label=side, color=drawing.SIDES[side]['color'],
            hatch='//' if side == 'stock' else None,
        )  # fmt: skip
    panel.set_yticks(range(len(rows)), [row['fault'] for row in rows])
    panel.set_xlabel('percentage of failed requests')
    panel.legend()
