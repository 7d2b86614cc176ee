# SPDX-License-Identifier: Apache-2.0

"""Measure stock and patched Keystone side by side.

Both run at the same time on this machine, with a common database server and
one memcached each, and are loaded in turns by wrk or Rally, over loopback
only. Compare the two: absolute figures depend on the machine and are only
meaningful if it is otherwise idle.

all runs every experiment in turn; a failed experiment does not stop the others
and is listed at the end. An experiment that needs additional packages, such as
radosgw, is skipped if the user cannot install them.

Afterwards, the results in the folder are rendered into a self-contained
report.html there, and each chart as SVG. report only does that, without
starting a server.

compare shows the differences between the ratios of two folders, those of --out
and --with, for example of two runs of the same experiment.

--against measures an existing Keystone instead, with the account given by the
OS_* variables of an openrc, after listing what it creates and leaves there. It
works with revocations, mixed and tokens.

Ctrl-C stops everything that was started.
"""

import pathlib
import sys

from bench import client
from bench import comparison
from bench import databases
from bench import events
from bench import experiments
from bench import runner
from patchset import arguments
from patchset import errors
from patchset import paths
from patchset import pins
from patchset import progress
from patchset import stopping
from patchset.cluster import layout

# Milliseconds of a round trip; the most is more than around the earth.
_DELAY = arguments.between('milliseconds', int, 0, 1000)
_RATE = arguments.between('rate', float, 0.01, 1000)  # per second

# Options that only some experiments have.
_ONLY = {
    'kind': ('revocations',),
    'rate': ('living',),
    'delay': ('rally', 'regions', 'propagation'),
    'nodes': ('regions',),
}


# Option, more of its arguments, and its help.
_REPEATED = (
    (
        '--kind', {'choices': tuple(events.COLUMNS)},
        'revocations: kind of the events',
    ),
    ('--case', {}, 'living, services, regions, propagation, faults: case'),
    (
        '--rate', {'type': _RATE, 'metavar': 'N'},
        'living: rounds of writes per second',
    ),
    (
        '--delay', {'type': _DELAY, 'metavar': 'MS'},
        'rally: round trip time in milliseconds to the database, or '
        'between the nodes of a cluster (default: 0, at full scale 0 and '
        '100); regions, propagation: round trip time between the regions '
        '(default: 0, 100 and 300, at small scale 0 for regions, and 0 and '
        '100 for propagation)',
    ),
)  # fmt: skip


def add_arguments(parser):
    parser.add_argument(
        'experiment',
        choices=(*sorted(experiments.ALL), 'all', 'report', 'compare'),
        metavar='EXPERIMENT',
        help='one of those below, all, report or compare',
    )
    parser.add_argument(
        '--scale',
        choices=('small', 'full'),
        default='small',
        help='small: a few minutes, 25 for all; full: up to an hour, more '
        'for rally (default: %(default)s)',
    )
    for option, more, words in _REPEATED:
        parser.add_argument(
            option, action='append', default=[],
            help=f'{words}; may be repeated', **more,
        )  # fmt: skip
    parser.add_argument(
        '--no-token-caching',
        action='store_true',
        help='disable [token] caching on both sides',
    )
    parser.add_argument(
        '--database',
        choices=tuple(databases.ALL),
        help='database server (default: mariadb; galera for propagation; '
        'each of them for rally at full scale)',
    )
    parser.add_argument(
        '--nodes',
        type=arguments.between('number', int, 2, layout.MAX_NODES),
        metavar='N',
        help='regions: number of nodes (default: 3)',
    )
    _add_against(parser)
    _add_folders(parser)
    parser.epilog = '\n'.join(['experiments:', *_titles()])


def _titles():
    for name, experiment in experiments.ALL.items():
        yield f'  {name:12} {experiment.TITLE}'


def _add_against(parser):
    parser.add_argument(
        '--against', metavar='URL', help='measure the Keystone at this URL'
    )
    parser.add_argument(
        '--yes',
        action='store_true',
        help='--against: do not ask for confirmation',
    )


def _add_folders(parser):
    parser.add_argument(
        '--out',
        metavar='DIR',
        type=pathlib.Path,
        default=paths.BUILD / 'bench',
        help='folder for the results, as JSON (default: %(default)s)',
    )
    parser.add_argument(
        '--with',
        dest='other',
        metavar='DIR',
        type=pathlib.Path,
        help='compare: folder with the other results',
    )


def run(args):
    """Run one experiment or all, or render the results."""
    check(args)
    stopping.in_order()
    pin = pins.load(args.release)
    if args.experiment == 'report':
        runner.report(args.out)
    elif args.experiment == 'compare':
        compare(args.out, args.other)
    elif args.experiment == 'all':
        runner.measure_all(pin, args)
    else:
        if args.against:
            confirm(args)
        runner.measure(pin, args.experiment, args)
        runner.report(args.out)


def check(args):
    """Reject options that do not apply to the experiment."""
    name = args.experiment
    for option, names in _ONLY.items():
        if getattr(args, option) and name not in names:
            raise errors.UsageError(
                f'--{option} requires {" or ".join(names)}'
            )
    cases = getattr(experiments.ALL.get(name), 'CASES', ())
    for case in args.case:
        if case not in cases:
            raise errors.UsageError(
                f'{name} has no case {case}; its cases are: '
                f'{", ".join(cases) or "none"}'
            )
    if args.database and name == 'faults':
        raise errors.UsageError('faults uses clusters with given databases')
    if (name == 'compare') != (args.other is not None):
        raise errors.UsageError('compare and --with require each other')
    foreign = args.database not in (None, 'mariadb')
    if foreign and name in ('catalog', 'warm', 'all'):
        raise errors.UsageError('catalog and warm require --database mariadb')
    if args.against and name not in experiments.of_api():
        raise errors.UsageError(
            f'--against requires {", ".join(experiments.of_api())}: other '
            f'experiments need access to the database, caches or options'
        )
    if args.against and (args.kind or args.no_token_caching or args.database):
        raise errors.UsageError(
            '--kind, --no-token-caching and --database cannot be used with '
            '--against'
        )


def confirm(args):
    """Say what will be created in an existing Keystone, and ask.

    :raises patchset.errors.Error: the answer is no
    """
    account = runner.account_of(args)
    client.login_body(account)  # fails if anything is missing
    for line in announcement(account, args.experiment, args.scale):
        progress.say(line)
    if not args.yes:
        if not sys.stdin.isatty():
            raise errors.UsageError('not a terminal: confirm with --yes')
        if input('Continue? [y/N] ').strip().lower() not in ('y', 'yes'):
            raise errors.Error('cancelled')


def announcement(account, name, scale):
    """Describe what is created in an existing Keystone, in lines.

    :param name: the experiment
    """
    issued, revoked = experiments.ALL[name].footprint(scale)
    yield f'{account.url} will be under load. This creates there:'
    yield (
        'a project and a user, both named ks-bench-..., with the role member '
        'or reader; they are removed at the end, also after Ctrl-C'
    )
    yield (
        f'{issued:,} tokens of that user, which become invalid when the user '
        'is removed; more if disturbed slices are measured again'
    )
    if revoked:
        yield (
            f'one or two revocation events for each of {revoked:,} tokens; '
            'they may slow down Keystone until it prunes them'
        )


def compare(folder, other):
    """Show the differences between the results of two folders.

    :raises patchset.errors.Error: they have no results in common
    """
    rows = comparison.compare(folder, other)
    if not rows:
        raise errors.Error(f'{folder} and {other} have no ratio in common')
    progress.say(comparison.text(rows))
