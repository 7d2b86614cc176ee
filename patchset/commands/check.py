# SPDX-License-Identifier: Apache-2.0

"""Check the pin, the series, each patch, and the overlay of a release.

Each patch must apply exactly (no fuzz, no offset), be listed once, and list
its overlay files (Adds:) and the topics it needs (Depends:). Overlay files
must not exist upstream. The modules of each topic must be importable with only
its dependencies, and assembling and refreshing must change nothing.
"""

from patchset import arguments
from patchset import check
from patchset import environment
from patchset import progress
from patchset import upstream

HELP = 'check pins, patches and overlay'


def add_arguments(parser):
    """Add this command's arguments."""
    arguments.add_release(parser)


def run(args):
    """Check, and print the size of the series."""
    pin = arguments.pin(args)
    source = upstream.ensure(pin)
    where = environment.Environment(pin.release, 'test').ensure()
    size = check.check(pin, source, where.python)
    progress.say(f'{pin.release}: {size}')
