# SPDX-License-Identifier: Apache-2.0

"""Port the topics to another upstream version.

With a version, pins a release to it and applies the topics to its source by a
three-way merge. On a conflict it stops: resolve it in build/RELEASE as git
says, and run the command again without a version to continue. Finally, write
the patches with ./ks refresh.
"""

from patchset import arguments
from patchset import assemble
from patchset import errors
from patchset import paths
from patchset import pins
from patchset import port
from patchset import progress
from patchset import series
from patchset import upstream

HELP = 'port the topics to another upstream version'


def add_arguments(parser):
    """Add this command's arguments."""
    arguments.add_release(parser, new=True)
    parser.add_argument(
        '--from',
        dest='origin',
        metavar='R',
        help='release to port the topics from (default: the same release, or '
        'the newest for a new one)',
    )
    parser.add_argument(
        'version',
        nargs='?',
        help='upstream version, such as 30.0.1; continue if omitted',
    )


def run(args):
    """Start or continue, and report what to review."""
    if args.version:
        _start(args)
    elif args.origin:
        raise errors.UsageError('--from requires a version')
    changed, merged = port.resume(pins.load(args.release))
    for names, what in (
        (changed, 'has changed hunks'),
        (merged, 'has no hunks left: was it merged upstream?'),
    ):
        for name in names:
            progress.say(f'{name} {what}')
    progress.say(
        f'To compare: git -C {paths.assembled(args.release)} range-diff '
        f'{port.BASE}..{port.TOPICS} {assemble.BASE}..HEAD'
    )
    progress.say(f'Then: ./ks refresh --release {args.release}')


def _start(args):
    known = args.release in pins.releases()
    origin = args.origin or (args.release if known else pins.newest())
    old = pins.load(origin)
    # Fail on uncommitted edits before anything is written.
    assemble.ensure(old)
    archive = upstream.fetch(args.version)
    pin = pins.Pin(
        args.release, args.version, archive.name, upstream.sha256(archive), 1
    )
    progress.say(
        f'{pin.file}: sha256 {pin.sha256}: compare it with the one published '
        f'by upstream'
    )
    pins.write(pin)
    for stack in series.STACKS:
        listed = paths.PATCHES / pin.release / stack / 'series'
        if not listed.exists():
            listed.parent.mkdir(exist_ok=True)
            listed.write_text(series.comments(origin, stack))
    port.start(pin, old)
