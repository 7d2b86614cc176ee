# SPDX-License-Identifier: Apache-2.0

"""A self-contained page with all results in a folder.

Each chart is also written to a separate file. Run it in an environment with
matplotlib, with two arguments: the folder with the results, and the page to
write.
"""

import html
import pathlib
import string
import sys

from bench import bar_charts
from bench import charts
from bench import drawing
from bench import experiments

_PAGE = pathlib.Path(__file__).with_suffix('.html')


def section(result, drawn):
    """Section of one run: its charts, its table, and its environment.

    :param result: a dict as ``./ks bench`` writes it
    :param drawn: list of (caption, SVG)
    """
    module = experiments.ALL[result['experiment']]
    caching = {True: 'on', False: 'off', None: 'unchanged'}
    parts = [
        f'<h2>{html.escape(module.TITLE)}</h2>',
        f'<p>Experiment <code>{html.escape(result["experiment"])}</code>, '
        f'scale {html.escape(result["scale"])}, token caching '
        f'{caching[result["token_caching"]]}.</p>',
    ]
    for caption, svg in drawn:
        parts.append(
            f'<figure>\n{svg}'
            f'<figcaption>{html.escape(caption)}</figcaption>\n</figure>'
        )
    parts.append(f'<pre>{html.escape(module.text(result["points"]))}</pre>')
    facts = {
        'Keystone': result['version'],
        'command': result['command'],
        **result['machine'],
        'load average before': f'{result["load_average"]:.1f}',
    }
    if 'steal' in result:
        facts['steal time'] = f'{result["steal"]:.0%}'
    parts.append('<dl>')
    for name, value in facts.items():
        parts.append(
            f'<dt>{html.escape(name)}</dt><dd>{html.escape(str(value))}</dd>'
        )
    return '\n'.join([*parts, '</dl>'])


def main(folder, target):
    """Write the page of a folder, and the charts next to it."""
    target = pathlib.Path(target)
    sections = []
    for path, result in experiments.results(pathlib.Path(folder)):
        name = result['experiment']
        draw = getattr(charts, name, None) or getattr(bar_charts, name)
        svgs = []
        for number, (caption, figure) in enumerate(draw(result['points']), 1):
            file = target.with_name(f'{path.stem}-{number}.svg')
            svg = drawing.svg(figure, file.name)
            file.write_text(svg)
            svgs.append((caption, svg))
        sections.append(section(result, svgs))
    page = string.Template(_PAGE.read_text())
    target.write_text(page.substitute(sections='\n'.join(sections)))


if __name__ == '__main__':
    main(*sys.argv[1:])
