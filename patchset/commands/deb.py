# SPDX-License-Identifier: Apache-2.0

"""Build patched packages from those of Debian.

The distribution's packages python3-keystone and keystone are downloaded by
apt, or given as files. They are unpacked, patched and packed again, with a
version just above their own, so that its later updates replace them. The
topics are those of the release with their version of upstream.
"""

import pathlib
import tempfile

from patchset import deb
from patchset import paths
from patchset import progress

HELP = 'build packages from those of Debian, with the topics'


def add_arguments(parser):
    """Add this command's arguments."""
    parser.add_argument(
        'packages',
        nargs='*',
        metavar='FILE',
        type=pathlib.Path,
        help='packages of the distribution (default: downloaded by apt)',
    )


def run(args):
    """Build, and print the paths written."""
    with tempfile.TemporaryDirectory() as folder:
        packages = args.packages or deb.download(pathlib.Path(folder))
        for path in deb.build(packages, paths.DIST / 'deb'):
            progress.say(path)
