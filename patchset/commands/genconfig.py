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


"""Write a sample keystone.conf with every option of the patched Keystone.

Each option stands there with its default and its help text, commented out.
"""

import pathlib

from patchset import arguments
from patchset import environment
from patchset import errors
from patchset import paths
from patchset import process
from patchset import progress
from patchset import trees

HELP = 'write a sample keystone.conf'


def add_arguments(parser):
    """Add this command's arguments."""
    arguments.add_release(parser)
    arguments.add_stock(parser)
    parser.add_argument(
        '--output',
        metavar='FILE',
        type=pathlib.Path,
        help='file to write (default: dist/keystone-VERSION.conf.sample)',
    )


def run(args):
    """Write the sample, and print its path."""
    pin = arguments.pin(args)
    tree = trees.get(pin, args.stock)
    version = pin.version if args.stock else pin.local_version
    path = args.output or paths.DIST / f'keystone-{version}.conf.sample'
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise errors.Error(f'{path.parent}: {error.strerror}')
    where = environment.Environment(pin.release, 'run').ensure()
    process.run(
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
