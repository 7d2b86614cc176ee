# SPDX-License-Identifier: Apache-2.0

"""The directive ``ks-commands``: what ``./ks COMMAND --help`` prints.

The text comes from the commands' own parsers when the page is built.
"""

import argparse
import os

from docutils import nodes
from docutils.parsers import rst

from patchset import __main__ as command_line
from patchset import paths

WIDTH = 79


def helps():
    """Name and help text of each command, in the order of ``./ks --help``."""
    os.environ['COLUMNS'] = str(WIDTH)  # argparse asks for it
    parser = command_line.parser()
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for name, command in action.choices.items():
                text = command.format_help()
                yield name, text.replace(f'{paths.ROOT}/', '')


class Commands(rst.Directive):
    """One section per command, each with the target ``ks-COMMAND``."""

    def run(self):
        """Make the sections."""
        found = []
        for name, text in helps():
            section = nodes.section(ids=[f'ks-{name}'], names=[f'ks-{name}'])
            section += nodes.title(text=f'./ks {name}')
            section += nodes.literal_block(text, text, language='none')
            self.state.document.note_explicit_target(section)
            found.append(section)
        return found


def setup(application):
    """Register the directive with Sphinx."""
    application.add_directive('ks-commands', Commands)
    return {'parallel_read_safe': True}
