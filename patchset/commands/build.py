# SPDX-License-Identifier: Apache-2.0

"""Build the wheel that is installed over stock Keystone with pip.

The build is reproducible: the same inputs give the same bytes. The sha256 and
a list of components (CycloneDX 1.5) are written beside the wheel.
"""

from patchset import arguments
from patchset import assemble
from patchset import build
from patchset import paths
from patchset import progress
from patchset import sbom
from patchset import upstream

HELP = 'build the wheel that replaces stock Keystone'


def add_arguments(parser):
    """Add this command's arguments."""
    arguments.add_release(parser)


def run(args):
    """Build, and print the paths written and the wheel's sha256."""
    pin = arguments.pin(args)
    path = build.wheel(assemble.ensure(pin), pin, paths.DIST)
    for one in (path, *sbom.write(path, pin)):
        progress.say(f'{one}')
    progress.say(f'sha256 {upstream.sha256(path)}')
