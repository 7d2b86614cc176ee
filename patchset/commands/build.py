# SPDX-License-Identifier: Apache-2.0

"""Build the wheel that is installed over stock Keystone with pip.

The build is reproducible: the same inputs give the same bytes.
"""

from patchset import arguments
from patchset import assemble
from patchset import build
from patchset import paths
from patchset import progress
from patchset import upstream

HELP = 'build the wheel that replaces stock Keystone'


def add_arguments(parser):
    """Add this command's arguments."""
    arguments.add_release(parser)


def run(args):
    """Build, and print the wheel's path and sha256."""
    pin = arguments.pin(args)
    path = build.wheel(assemble.ensure(pin), pin, paths.DIST)
    progress.say(f'{path}')
    progress.say(f'sha256 {upstream.sha256(path)}')
