# SPDX-License-Identifier: Apache-2.0

"""Write a sample keystone.conf with every option of the patched Keystone.

Each option is listed with its default and its help text, commented out.
"""

import pathlib

from patchset import arguments
from patchset import assemble
from patchset import child
from patchset import environment
from patchset import errors
from patchset import paths
from patchset import pins
from patchset import progress


def add_arguments(parser):
    arguments.add_stock(parser)
    parser.add_argument(
        '--output',
        metavar='FILE',
        type=pathlib.Path,
        help='file to write (default: dist/keystone-VERSION.conf.sample)',
    )


def run(args):
    """Write the sample, and print its path."""
    pin = pins.load(args.release)
    tree = assemble.ensure(pin, args.stock)
    version = pin.version if args.stock else pin.local_version
    path = args.output or paths.DIST / f'keystone-{version}.conf.sample'
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise errors.Error(f'{path.parent}: {error.strerror}')
    where = environment.Environment(pin.release, 'run').ensure()
    child.run(
        [
            where.python, '-W', 'ignore', '-m', 'oslo_config.generator',
            '--config-file', tree / 'config-generator' / 'keystone.conf',
            '--output-file', path.resolve(),
        ],
        cwd=tree,
        env=where.variables(tree),
        what='writing the sample',
    )  # fmt: skip
    progress.say(path)
