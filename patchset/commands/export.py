# SPDX-License-Identifier: Apache-2.0

"""Export the series, for upstream's tree or for a distribution's package.

Each topic is exported as one commit or one patch, with its code, its tests and
its release note.

  git    patches for `git am` on upstream's tree
  quilt  patches with DEP-3 headers, and a series, for debian/patches

--signoff prepares the patches for upstream review. Topics that must be
reported in a private security bug first are listed on standard error.
"""

import pathlib

from patchset import assemble
from patchset import errors
from patchset import export
from patchset import paths
from patchset import pins
from patchset import progress
from patchset import quilt
from patchset import series
from patchset import signing

FORMATS = {'git': (export.export, 'series'), 'quilt': (quilt.export, 'quilt')}


def add_arguments(parser):
    parser.add_argument(
        '--topic',
        action='append',
        default=[],
        dest='topics',
        help='export only this topic and its dependencies; may be repeated',
    )
    parser.add_argument(
        '--stack',
        choices=series.STACKS,
        help='only the topics of this stack and those they depend on',
    )
    parser.add_argument(
        '--format',
        choices=FORMATS,
        default='git',
        help='format of the series (default: %(default)s)',
    )
    parser.add_argument(
        '--signoff',
        metavar='"NAME <ADDRESS>"',
        help='author of the patches; adds Signed-off-by and a Change-Id that '
        'is the same in each export and release',
    )
    parser.add_argument(
        '--output',
        metavar='DIR',
        type=pathlib.Path,
        help='folder for the series (default: dist/series/RELEASE, or '
        'dist/quilt/RELEASE)',
    )


def run(args):
    """Export, and print the paths written."""
    options = _signature(args)
    pin = pins.load(args.release)
    write, name = FORMATS[args.format]
    folder = args.output or paths.DIST / name / pin.release
    tree = assemble.ensure(pin)
    topics = series.load(pin.release)
    only = args.topics + [
        topic.name for topic in topics if topic.stack == args.stack
    ]
    for path in write(tree, topics, folder, only, **options):
        progress.say(path)
    if args.format == 'git':
        _tell_of_security(topics, only)


def _signature(args):
    if args.signoff is None:
        return {}
    if args.format != 'git':
        raise errors.UsageError('--signoff requires --format git')
    return {'signed_by': signing.signer(args.signoff)}


def _tell_of_security(topics, only):
    written = export.closure(topics, only or [one.name for one in topics])
    private = export.security(one for one in topics if one.name in written)
    if private:
        progress.step('report these in a private security bug first:')
    for topic in private:
        progress.step(f'  {topic.name}')
