# SPDX-License-Identifier: Apache-2.0

"""Bar charts, see :mod:`bench.charts`."""

from bench import drawing
from bench import summary
from bench import table


def warm(points):
    """Maximum rates, and response times at a constant rate."""
    figure, (rates, times) = drawing.grid(2)
    drawing.bars(
        rates, [point for point in points if point['load'] != 'offered'],
        _endpoints, title='maximum rate', ylabel='responses per second',
    )  # fmt: skip
    drawing.bars(
        times, [point for point in points if point['load'] == 'offered'],
        _endpoints, 'p99', '{:.1f}', title='constant rate',
        ylabel='99th percentile in milliseconds',
    )  # fmt: skip
    caption = (
        'Repeated validation of one token. Left: maximum rate with 20 '
        'clients, also for tokens for the system and of a trust, and for '
        'GET /v3 as a comparison. Right: at the same constant rate on both '
        f'sides. {drawing.MEDIAN}'
    )
    yield caption, figure


def _endpoints(point):
    if point['load'] == 'version':
        return 'GET /v3'
    if point['load'] in ('system', 'trust'):
        return point['load']
    return f'{point["endpoints"]} endpoints'


def s3(points):
    """Verified requests per second."""
    caption = (
        'Signed requests verified by Keystone per second, with four clients '
        f'and four credentials. {drawing.MEDIAN}'
    )
    yield _kinds(caption, points, 'requests per second')


def rotation(points):
    """Validations of many tokens per second."""
    caption = (
        f'Validations per second of {points[0]["tokens"]:,} tokens in turn, '
        'with 20 clients: without other requests, and while 10 tokens are '
        f'revoked and a project is created each second. {drawing.MEDIAN}'
    )
    yield _kinds(caption, points, 'validations per second')


def _kinds(caption, points, ylabel):
    return drawing.chart(
        caption, points, None, drawing.bars, label='kind', ylabel=ylabel
    )


def radosgw(points):
    """Response times of S3 requests, and CPU time of Keystone."""
    figure, panels = drawing.grid(4)
    fields = {'p95': '95th percentile in milliseconds', 'cpu': 'CPU time, ms'}
    for row, cache in enumerate(('off', 'one')):
        selected = [
            point
            for point in points
            if point['cache'] == cache
            and point['kind'] in ('get', 'put', 'list', 'hashed')
        ]
        for panel, name in zip(panels[2 * row :], fields, strict=False):
            drawing.bars(
                panel, selected, 'kind', name, '{:.1f}', ylabel=fields[name],
                title=f'token cache of RadosGW: {cache}',
            )  # fmt: skip
    caption = (
        'Small S3 requests by four clients. Left: the 95th percentile of the '
        'response times. Right: CPU time of Keystone per request. Top: '
        'without the token cache of RadosGW; hashed is get without the cache '
        'of verified passwords. Bottom: RadosGW caches only its own token.'
    )
    yield caption, figure


def services(points):
    """Rates by kind of validation."""

    def draw(panel, points):
        if points[0]['case'] == 'processes':
            points = [one for one in points if one['load'] == 'all services']
        several = len({point['where'] for point in points}) > 1
        drawing.bars(
            panel, points, ylabel='responses per second',
            label=lambda point: (
                f'{point["load"]}\n{point["where"]}'
                if several
                else point['load']
            ),
        )  # fmt: skip
        panel.tick_params(axis='x', labelsize='small')

    caption = (
        'Tokens validated by several services, once each and a second time; '
        'tokens exchanged for others; and requests to a service behind '
        f'keystonemiddleware. {drawing.MEDIAN}'
    )
    yield drawing.chart(caption, points, 'case', draw)


def tokens(points):
    """Rates of each load, and its traffic with memcached."""
    caption = (
        'Tokens created with a password, and validated, per second. Median '
        'of the runs; the bars show their minimum and maximum.'
    )
    yield drawing.chart(
        caption, points, _load, drawing.bars, label='cache',
        xlabel='cache', ylabel='requests per second',
    )  # fmt: skip
    cached = [point for point in points if point['cache'] == 'memcached']
    if cached:
        figure, panels = drawing.grid(2)
        units = {'gets': 'keys read', 'bytes': 'bytes sent and received'}
        for (name, unit), panel in zip(units.items(), panels, strict=True):
            drawing.bars(
                panel, cached, lambda one: _load(one).replace(', ', '\n'),
                name, ylabel=f'{unit} per request',
            )  # fmt: skip
        yield (
            'Traffic with memcached per request. Median of the runs.',
            figure,
        )


def formats(points):
    """Response times of one client, and rate of several clients."""

    def draw(panel, points):
        options = {'ylabel': 'requests per second'}
        if points[0]['clients'] == 1:
            options = {
                'name': 'ms', 'form': '{:.1f}',
                'ylabel': 'response time in milliseconds',
            }  # fmt: skip
        drawing.bars(panel, points, 'format', **options)

    caption = (
        'Left: the mean response time with one client. Right: requests per '
        'second of several clients; the bars show the minimum and maximum of '
        'the rounds.'
    )
    yield drawing.chart(caption, points, _load, draw)


def _load(point):
    return f'{point["what"]}, {_clients(point["clients"])}'


def _clients(number):
    return f'{number} client' + ('s' if number > 1 else '')


def rally(points):
    """Rate of each scenario, a chart for each database and delay."""

    def environment(point):
        delay = f' with a delay of {point["delay"]} ms'
        return f'{point["database"]}{delay if point["delay"] else ""}'

    def draw(panel, points):
        panel.figure.set_size_inches(10, 5)
        drawing.bars(
            panel, points, form=table.rate, ylabel='iterations per second',
            label=lambda one: one['scenario'].replace('_and_', '\nand_'),
        )  # fmt: skip
        panel.tick_params('x', rotation=20)

    for name, group in summary.grouped(points, environment).items():
        clients = _clients(group[0]['clients'])
        caption = f'Rally scenarios on {name}, {clients}. {drawing.MEDIAN}'
        yield drawing.chart(caption, group, None, draw)


def faults(points):
    """Effect of each fault on both sides, a chart for each cluster."""
    faults = [point for point in points if 'lost' not in point['stock']]
    for case, group in summary.grouped(faults, 'case').items():
        figure, panels = drawing.grid(2, sharey=True)
        _by_fault(
            panels[0], group, 'percentage of failed requests',
            lambda one: 100 * one['failed'] / one['requests'],
        )  # fmt: skip
        _by_fault(
            panels[1], group, 'revoked tokens accepted too late',
            lambda one: one['accepted'],
        )  # fmt: skip
        # In the order of the table.
        panels[0].invert_yaxis()
        panels[1].tick_params(labelleft=False)
        caption = (
            'Requests that failed during and after a fault, and how often a '
            f'revoked token was accepted too late: {case}.'
        )
        yield caption, figure


def _by_fault(panel, points, label, measure):
    width = 0.4
    for number, side in enumerate(summary.sides(points[0])):
        panel.barh(
            [row + number * width for row in range(len(points))],
            [measure(point[side]) for point in points],
            width, label=side, color=drawing.SIDES[side]['color'],
            hatch='//' if side == 'stock' else None,
        )  # fmt: skip
    panel.set_yticks(range(len(points)), [one['fault'] for one in points])
    panel.set_xlim(left=0)
    panel.set_xlabel(label)
    panel.legend()
