# SPDX-License-Identifier: Apache-2.0

"""Write edits in the assembled tree back to patches/ and to the overlay.

build/RELEASE is a git work tree with one commit per topic. Edit and commit
there (a new commit becomes a new topic), or leave the edits uncommitted and
specify the topic they belong to.
"""

from patchset import pins
from patchset import progress
from patchset import refresh


def add_arguments(parser):
    parser.add_argument(
        '--topic', help='topic that the uncommitted edits belong to'
    )


def run(args):
    """Refresh, and print what changed."""
    changed = refresh.refresh(pins.load(args.release), args.topic)
    for name in changed:
        progress.say(name)
    if not changed:
        progress.say('nothing to refresh')
