# SPDX-License-Identifier: Apache-2.0

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
