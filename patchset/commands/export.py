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

"""Write the series, for upstream's tree or for a distribution's package.

Patches and overlay are joined: each topic is one commit, or one patch, with
its code, its tests and its release note.

  git    mails that `git am` takes on upstream's own tree
  quilt  patches with DEP-3 headers, and a series, for debian/patches
"""

import pathlib

from patchset import arguments
from patchset import assemble
from patchset import export
from patchset import paths
from patchset import progress
from patchset import quilt
from patchset import series

HELP = 'write the series, one commit or quilt patch per topic'

FORMATS = {'git': (export.export, 'series'), 'quilt': (quilt.export, 'quilt')}


def add_arguments(parser):
    """Add this command's arguments."""
    arguments.add_release(parser)
    parser.add_argument(
        '--topic',
        action='append',
        default=[],
        dest='topics',
        help='only this topic and those it depends on; may be repeated',
    )
    parser.add_argument(
        '--format',
        choices=FORMATS,
        default='git',
        help='what reads the series (default: %(default)s)',
    )
    parser.add_argument(
        '--output',
        metavar='DIR',
        type=pathlib.Path,
        help='folder of the series (default: dist/series/RELEASE, or '
        'dist/quilt/RELEASE)',
    )


def run(args):
    """Export, and print the paths written."""
    pin = arguments.pin(args)
    write, name = FORMATS[args.format]
    folder = args.output or paths.DIST / name / pin.release
    tree = assemble.ensure(pin)
    topics = series.load(pin.release)
    for path in write(tree, topics, folder, args.topics):
        progress.say(path)
