# Licensed under the Apache License, Version 2.0 (the "License"); you may
# not use this file except in compliance with the License. You may obtain
# a copy of the License at
#
#      http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the
# License for the specific language governing permissions and limitations
# under the License.

"""Charts of the experiments, as SVG that stands inside a page.

Only this module needs matplotlib.
"""

import io

import matplotlib

matplotlib.use('svg')

from matplotlib import pyplot  # noqa: E402

_SIDES = {
    # Told apart without colours as well.
    'stock': {'color': '#d55e00', 'marker': 's', 'linestyle': '--'},
    'patched': {'color': '#0072b2', 'marker': 'o', 'linestyle': '-'},
}


def revocations(points):
    """Rate and 99th percentile against the number of events.

    :param points: what :func:`bench.revocations.run` gave
    :returns: list of (caption, SVG)
    """
    kinds = list(dict.fromkeys(point['kind'] for point in points))
    captions = {
        'rate': (
            'Validations per second against live revocation events. Median '
            'of the rounds; the bars span the least and the most.',
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
        figure, panels = _grid(len(kinds))
        for kind, panel in zip(kinds, panels, strict=False):
            rows = [point for point in points if point['kind'] == kind]
            for side in _SIDES:
                _line(panel, rows, 'events', side, name)
            panel.set_xscale('symlog', linthresh=_smallest(rows, 'events'))
            panel.set_title(f'{kind} events')
            panel.set_xlabel('live events (logarithmic)')
            panel.set_ylabel(unit)
            if name == 'p99':
                panel.set_yscale('log')
            else:
                panel.set_ylim(bottom=0)
        found.append((caption, _svg(figure, f'revocations {name}')))
    return found


def mixed(points):
    """Rate and loss against revocations per second.

    :param points: what :func:`bench.mixed.run` gave
    :returns: list of (caption, SVG)
    """
    figure, (rate, loss) = _grid(2)
    for side in _SIDES:
        _line(rate, points, 'asked', side, 'rate')
        asked = [point['asked'] for point in points]
        for name, style in (('loss', {}), ('work', {'linestyle': ':'})):
            values = [100 * point[side][name] for point in points]
            label = f'{side}: {name}'
            loss.plot(asked, values, label=label, **{**_SIDES[side], **style})
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
    return [(caption, _svg(figure, 'mixed'))]


def prune(points):
    """The first revocation, and the 99th percentile while pruning.

    :param points: what :func:`bench.prune.run` gave
    :returns: list of (caption, SVG)
    """
    *latencies, pruning = points
    figure, (first, beside) = _grid(2)
    for side, style in _SIDES.items():
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
            color=_SIDES['patched']['color'], alpha=0.6,
        )  # fmt: skip
    beside.set_xlim(-0.5, 1.5)
    beside.set_ylim(0, 1.1 * beside.get_ylim()[1])
    beside.set_xticks([0, 1], ['quiet', 'while pruning'])
    beside.set_title('Validations, patched')
    beside.set_ylabel('99th percentile, milliseconds')
    caption = (
        'Left: DELETE /v3/auth/tokens without and with expired rows, median. '
        'Right: 20 validating clients and five revocations per second; each '
        'point is a slice of time.'
    )
    return [(caption, _svg(figure, 'prune'))]


def catalog(points):
    """Rates against the number of endpoints.

    :param points: what :func:`bench.catalog.run` gave
    :returns: list of (caption, SVG)
    """
    loads = list(dict.fromkeys(point['load'] for point in points))
    figure, panels = _grid(len(loads))
    for load, panel in zip(loads, panels, strict=True):
        rows = [point for point in points if point['load'] == load]
        for side in _SIDES:
            _line(panel, rows, 'endpoints', side, 'rate')
        panel.set_ylim(bottom=0)
        panel.set_title(load)
        panel.set_xlabel('endpoints in the catalog')
        panel.set_ylabel('answers per second')
    caption = (
        'Validating a token, and exchanging one for another of the same '
        'project, with catalogs of several sizes. Median of the rounds; the '
        'bars span the least and the most.'
    )
    return [(caption, _svg(figure, 'catalog'))]


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
    return [(caption, _bars(points, 'requests per second', 's3'))]


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
    return [(caption, _bars(points, 'validations per second', 'rotation'))]


def _bars(points, unit, salt):
    """Rates of both sides beside each other, for each kind."""
    figure, panels = _grid(1)
    width = 0.35
    for place, (side, style) in enumerate(_SIDES.items()):
        bars = panels[0].bar(
            [number + place * width for number in range(len(points))],
            [point[side]['rate'] for point in points],
            width, yerr=_reach(points, side), capsize=3, label=side,
            color=style['color'], hatch='//' if side == 'stock' else None,
        )  # fmt: skip
        panels[0].bar_label(bars, fmt='{:.0f}', label_type='center')
    panels[0].set_xticks(
        [number + width / 2 for number in range(len(points))],
        [point['kind'] for point in points],
    )
    panels[0].set_ylabel(unit)
    panels[0].legend()
    return _svg(figure, salt)


def _grid(count):
    columns = min(count, 2)
    rows = -(-count // columns)
    figure, panels = pyplot.subplots(
        rows, columns, squeeze=False, layout='constrained',
        figsize=(5 * columns, 3.4 * rows),
    )  # fmt: skip
    panels = list(panels.flat)
    for panel in panels[count:]:
        panel.remove()
    for panel in panels[:count]:
        panel.grid(color='#dddddd')
        panel.set_axisbelow(True)
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


def _line(panel, points, x, side, name):
    places = [point[x] for point in points]
    values = [point[side][name] for point in points]
    if name == 'rate':
        reach = _reach(points, side)
        panel.errorbar(
            places, values, reach, label=side, capsize=3, **_SIDES[side]
        )
    else:
        panel.plot(places, values, label=side, **_SIDES[side])
    panel.legend()


def _smallest(points, name):
    return min((point[name] for point in points if point[name]), default=1)


def _svg(figure, salt):
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
