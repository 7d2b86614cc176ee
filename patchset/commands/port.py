# SPDX-License-Identifier: Apache-2.0

"""Carry the topics over to another upstream version.

With a version, pins a release to it and puts the topics onto its source, by
a merge of three sides: the new source, the old one, and the topic. Where
that needs a person, it stops. Resolve it in build/RELEASE as git says and
run the command again without a version: it goes on. Then ./ks refresh
writes the patches.
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

HELP = 'carry the topics over to another upstream version'


def add_arguments(parser):
    """Add this command's arguments."""
    arguments.add_release(parser, new=True)
    parser.add_argument(
        '--from',
        dest='origin',
        metavar='R',
        help='release whose topics are carried over (default: the same '
        'release, or the newest if it is a new one)',
    )
    parser.add_argument(
        'version',
        nargs='?',
        help='upstream version, such as 30.0.1; without it, go on',
    )


def run(args):
    """Start or go on, and say what to look at."""
    if args.version:
        _start(args)
    elif args.origin:
        raise errors.UsageError('--from goes with a version')
    report = port.resume(pins.load(args.release))
    for names, what in (
        (report.changed, 'changes other lines than before'),
        (report.merged, 'changes nothing any more: does upstream have it?'),
    ):
        for name in names:
            progress.say(f'{name} {what}')
    progress.say(
        f'To compare: git -C {report.tree} range-diff '
        f'{port.BASE}..{port.TOPICS} {assemble.BASE}..HEAD'
    )
    progress.say(f'Then: ./ks refresh --release {args.release}')


def _start(args):
    known = args.release in pins.releases()
    origin = args.origin or (args.release if known else pins.newest())
    old = pins.load(origin)
    # What there is to lose is told before anything is written.
    assemble.ensure(old)
    archive = upstream.fetch(args.version)
    pin = pins.Pin(
        args.release, args.version, archive.name, upstream.sha256(archive), 1
    )
    progress.say(
        f'{pin.file}: sha256 {pin.sha256}: compare it with what upstream '
        f'publishes'
    )
    pins.write(pin)
    listed = paths.PATCHES / pin.release / 'series'
    if not listed.exists():
        listed.write_text(series.comments(origin))
    port.start(pin, old)
