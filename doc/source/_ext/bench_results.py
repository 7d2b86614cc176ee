# SPDX-License-Identifier: Apache-2.0

"""The directive ``bench-results``: what a run of ``./ks bench`` has given.

Its argument is the run's JSON file. The command and the table come from it,
in the form in which ``./ks bench`` prints them.
"""

import importlib
import json
import pathlib

from docutils import nodes
from docutils.parsers import rst


class Results(rst.Directive):
    """The command of a run, its table, and the machine."""

    required_arguments = 1

    def run(self):
        """Make the nodes."""
        source = pathlib.Path(self.state.document.current_source)
        path = source.parent / self.arguments[0]
        self.state.document.settings.record_dependencies.add(str(path))
        result = json.loads(path.read_text())
        experiment = importlib.import_module(f'bench.{result["experiment"]}')
        shown = f'$ {result["command"]}\n{experiment.text(result["points"])}'
        machine = ', '.join(
            f'{name}: {value}' for name, value in result['machine'].items()
        )
        note = (
            f'Keystone {result["version"]}; {machine}; load before the run: '
            f'{result["load_average"]:.1f}.'
        )
        if 'steal' in result:
            note += f' CPU time stolen by the host: {result["steal"]:.0%}.'
        return [
            nodes.literal_block(
                shown, shown, language='none', classes=['bench-results']
            ),
            nodes.paragraph(text=note),
        ]


def setup(application):
    """Register the directive with Sphinx."""
    application.add_directive('bench-results', Results)
    return {'parallel_read_safe': True}
