# SPDX-License-Identifier: Apache-2.0

"""Run Python with the patched (or stock) Keystone importable.

Arguments after the options are passed to Python: -c COMMAND, -m MODULE, a
script with its arguments, or nothing for a prompt.
"""

import os

from patchset import arguments
from patchset import assemble
from patchset import environment
from patchset import pins


def add_arguments(parser):
    arguments.add_stock(parser)
    parser.add_argument('arguments', nargs='*', help="Python's own arguments")


def split(words):
    """Separate Python's own arguments from this command's by ``--``."""
    for number, word in enumerate(words):
        previous = words[number - 1] if number else ''
        own = word in ('-h', '--help', '--stock', '--', '--release')
        if previous != '--release' and not own | word.startswith('--release='):
            return [*words[:number], '--', *words[number:]]
    return words


def run(args):
    """Replace this process with that Python."""
    pin = pins.load(args.release)
    tree = assemble.ensure(pin, args.stock)
    where = environment.Environment(pin.release, 'run').ensure()
    os.environ.update(where.variables(tree))
    os.execv(where.python, [str(where.python), *args.arguments])
