# SPDX-License-Identifier: Apache-2.0

"""Measure stock and patched Keystone side by side.

Both run at the same time on this machine, with the same database server and
a memcached each, and take turns under the load of ApacheBench, wrk or hey
(loopback only). What counts is how the two compare: absolute figures are this
machine's, and only an idle machine gives any.

experiments:
  tokens       tokens created and validated, with memcached and without a cache
  revocations  validations per second against live revocation events
  mixed        validations per second while other tokens are revoked
  prune        what expired events cost a revocation, and their removal
  warm         one token validated again and again, and at a steady rate
  catalog      validations and rescopings per second against the endpoints
  formats      Fernet and JWS tokens created and validated
  s3           signed requests of S3 and EC2 checked per second
  radosgw      requests of S3 through a RadosGW that asks Keystone
  rotation     validations per second of very many tokens in turns
  living       validations per second while others write
  services     each token validated once by each service, processes and nodes
  memory       of a worker process, by live events and by validated tokens
  rally        seven scenarios of Rally, with the share of statements that read

all runs them one after the other. One that fails does not keep the others from
running; it is named at the end. One that needs packages of its own, as radosgw
does, is left out by a user who cannot install them.

At the end the results of the folder are drawn on one page, report.html there,
which needs no other file, and each chart once more as SVG. report does that
alone: it is no experiment, and starts no server.

compare says how far the ratios of two folders are from each other: that of
--out and that of --with, such as of a run and the same one repeated.

With --against, one Keystone that runs already is measured instead, with an
account that the OS_* variables of an openrc name; it says before what it
makes and leaves there. For revocations, mixed and tokens.

Ctrl-C leaves nothing running.
"""

import argparse
import json
import os
import pathlib
import shlex
import sys
import traceback

from bench import client
from bench import cloud
from bench import databases
from bench import events
from bench import experiments
from bench import machine
from bench import plan
from bench import prepared
from bench import repeated
from bench import steal
from patchset import arguments
from patchset import environment
from patchset import errors
from patchset import paths
from patchset import pins
from patchset import process
from patchset import progress
from patchset import stopping
from patchset import system

_FARTHEST = 1000  # milliseconds; no two places on earth are as far apart

_MOST = 1000  # rounds of writes per second

HELP = 'measure stock and patched Keystone side by side'


def add_arguments(parser):
    """Add this command's arguments."""
    arguments.add_release(parser)
    parser.add_argument(
        'experiment',
        choices=(*sorted(experiments.ALL), 'all', 'report', 'compare'),
    )
    parser.add_argument(
        '--scale',
        choices=('small', 'full'),
        default='small',
        help='small: a few minutes, 25 for all; full: up to an hour, for '
        'rally somewhat more (default: %(default)s)',
    )
    parser.add_argument(
        '--kind',
        action='append',
        choices=tuple(events.COLUMNS),
        default=[],
        help='revocations: only events of this kind; may be repeated',
    )
    parser.add_argument(
        '--case',
        action='append',
        default=[],
        help='living, services: only this case; may be repeated',
    )
    parser.add_argument(
        '--rate',
        action='append',
        type=rate,
        default=[],
        metavar='N',
        help='living: rounds of writes per second; may be repeated',
    )
    parser.add_argument(
        '--no-token-caching',
        action='store_true',
        help='switch [token] caching off on both sides',
    )
    parser.add_argument(
        '--database',
        choices=tuple(databases.ALL),
        help='where both keep their data (default: mariadb; for rally at '
        'full scale each of them)',
    )
    parser.add_argument(
        '--delay',
        action='append',
        type=milliseconds,
        default=[],
        metavar='MS',
        help='rally: how far away the database, or the nodes of a cluster '
        'from each other, are, in milliseconds there and back; may be '
        'repeated (default: 0, at full scale 0 and 100)',
    )
    parser.add_argument(
        '--against', metavar='URL', help='measure the Keystone at this address'
    )
    parser.add_argument(
        '--yes',
        action='store_true',
        help='--against: do not ask before anything is made there',
    )
    parser.add_argument(
        '--out',
        metavar='DIR',
        type=pathlib.Path,
        default=paths.BUILD / 'bench',
        help='folder of the results, as JSON (default: %(default)s)',
    )
    parser.add_argument(
        '--with',
        dest='other',
        metavar='DIR',
        type=pathlib.Path,
        help='compare: folder of other results',
    )


def milliseconds(word):
    """A word of the command line as a whole number of milliseconds."""
    number = int(word)
    if not 0 <= number <= _FARTHEST:
        raise argparse.ArgumentTypeError(
            f'{number} is not between 0 and {_FARTHEST}'
        )
    return number


def rate(word):
    """A word of the command line as a number per second, above 0."""
    number = float(word)
    if not 0.01 <= number <= _MOST:
        raise argparse.ArgumentTypeError(
            f'{number} is not between 0.01 and {_MOST}'
        )
    return number


def run(args):
    """Run one experiment, or all, or draw what they gave."""
    if args.kind and args.experiment != 'revocations':
        raise errors.UsageError('--kind goes with revocations')
    check_cases(args)
    if args.delay and args.experiment != 'rally':
        raise errors.UsageError('--delay goes with rally')
    if (args.experiment == 'compare') != (args.other is not None):
        raise errors.UsageError('compare and --with go together')
    filled = ('catalog', 'warm', 'all')
    foreign = args.database not in (None, 'mariadb')
    if foreign and args.experiment in filled:
        raise errors.UsageError('the catalog is filled in the SQL of mariadb')
    if args.against:
        check_against(args)
    stopping.in_order()
    pin = arguments.pin(args)
    if args.experiment == 'report':
        report(args.out)
    elif args.experiment == 'compare':
        compare(args.out, args.other)
    elif args.experiment == 'all':
        everything(pin, args)
    else:
        if args.against:
            measure_cloud(pin, args)
        else:
            measure(pin, args.experiment, args)
        report(args.out)


def check_cases(args):
    """Refuse cases and rates that an experiment does not have."""
    cases = getattr(experiments.ALL.get(args.experiment), 'CASES', ())
    for case in args.case:
        if case not in cases:
            raise errors.UsageError(
                f'{args.experiment} has no case {case}, but '
                f'{", ".join(cases) or "none"}'
            )
    if args.rate and args.experiment != 'living':
        raise errors.UsageError('--rate goes with living')


def check_against(args):
    """Refuse what does not go with an existing Keystone."""
    if args.experiment not in experiments.of_api():
        raise errors.UsageError(
            f'--against goes with {", ".join(experiments.of_api())}: the '
            f'others need the tables, the caches or the options of Keystone'
        )
    if args.kind or args.no_token_caching or args.database:
        raise errors.UsageError(
            '--kind, --no-token-caching and --database do not go with '
            '--against: it measures what is there'
        )


def measure_cloud(pin, args):
    """Measure an existing Keystone, if that is wanted."""
    account = cloud.Account(cloud.normalise(args.against), dict(os.environ))
    client.login(account)  # says what is missing
    for line in announcement(account, args.experiment, args.scale):
        progress.say(line)
    if not args.yes:
        if not sys.stdin.isatty():
            raise errors.UsageError('nobody can be asked here: add --yes')
        if input('Go on? [y/N] ').strip().lower() not in ('y', 'yes'):
            raise errors.Error('nothing was done')
    args.out.mkdir(parents=True, exist_ok=True)
    system.ensure('load')
    chosen = plan.Plan(pin=pin, scale=args.scale, against=account)
    version = client.version(account)
    experiment = experiments.ALL[args.experiment]
    result = {
        'experiment': args.experiment,
        'version': f'API {version} at {account.url}',
        'scale': chosen.scale,
        'token_caching': None,
        'command': f'./ks bench {args.experiment} --scale {args.scale} '
        f'--against {shlex.quote(account.url)}',
        'machine': machine.load_maker(),
        'load_average': machine.load_average(),
    }
    fill_in(result, experiment, chosen)
    words = [args.experiment, 'against', chosen.scale]
    write(args.out / f'{"-".join(words)}.json', result)


def announcement(account, name, scale):
    """What is about to be made at an existing Keystone: lines.

    :param name: the experiment
    """
    issued, revoked = experiments.ALL[name].footprint(scale)
    yield f'{account.url} will be under load. This is made there:'
    yield (
        'a project and a user, both named ks-bench-..., and a grant of the '
        'role member or reader; they are removed at the end, also after '
        'Ctrl-C'
    )
    yield (
        f'{issued:,} tokens of that user, which nothing but time removes; '
        'they are not valid any more when the user is gone'
    )
    if revoked:
        yield (
            f'revocation events of {revoked:,} of them, one or two each, '
            'which stay until Keystone removes them; until then they may make '
            'it slower'
        )


def everything(pin, args):
    """Run all experiments, and write the page about what they gave.

    :raises patchset.errors.Error: some failed; it names them
    """
    names = [name for name in experiments.ALL if installed(name)]
    with prepared.Prepared() as kept:
        failed = in_turn(names, lambda name: measure(pin, name, args, kept))
    if len(failed) < len(names):
        report(args.out)
    if failed:
        raise errors.Error(
            f'{len(failed)} of {len(names)} experiments failed: '
            + '; '.join(f'{name} ({why})' for name, why in failed.items())
        )


def installed(name):
    """Whether the packages that an experiment alone needs are there.

    Root gets them installed; for another user it says what is left out.
    """
    profile = getattr(experiments.ALL[name], 'PACKAGES', None)
    try:
        if profile:
            system.ensure(profile)
    except errors.NotInstalled as error:
        progress.step(f'{name} is left out: {error}')
        return False
    return True


def in_turn(names, measure):
    """Do something for each name, whatever becomes of the others.

    :param measure: function of a name
    :returns: {name: why it failed}
    """
    failed = {}
    for number, name in enumerate(names, 1):
        progress.step(f'experiment {number} of {len(names)}: {name}')
        try:
            measure(name)
        except errors.Error as error:
            failed[name] = error
        except Exception as error:
            traceback.print_exc()
            failed[name] = repr(error)
        if name in failed:
            progress.step(f'{name} failed: {failed[name]}')
    return failed


def compare(folder, other):
    """Show how far the results of two folders are from each other.

    :raises patchset.errors.Error: they have no results of the same name
    """
    rows = repeated.compare(folder, other)
    if not rows:
        raise errors.Error(f'{folder} and {other} have no ratio in common')
    progress.say(repeated.text(rows))


def report(folder):
    """Write the page about the results in a folder."""
    if not list(folder.glob('*.json')):
        raise errors.Error(f'{folder} has no results')
    venv = environment.Environment(pins.newest(), 'bench').ensure()
    path = folder / 'report.html'
    process.run(
        [venv.python, '-P', '-m', 'bench.report', folder, path],
        env=venv.variables(paths.ROOT),
        what='drawing the report',
    )
    progress.say(path)


def databases_of(name, args):
    """Names of the databases that an experiment runs on, as a tuple."""
    if args.database:
        return (args.database,)
    chosen = getattr(experiments.ALL[name], 'DATABASES', {})
    return chosen.get(args.scale, ('mariadb',))


def command(name, args):
    """The command line that repeats a run, whatever its folder was.

    :param name: the experiment
    """
    words = ['./ks', 'bench', name, '--release', args.release]
    words += ['--scale', args.scale]
    words += [word for kind in args.kind for word in ('--kind', kind)]
    words += [word for case in args.case for word in ('--case', case)]
    words += [word for one in args.rate for word in ('--rate', f'{one:g}')]
    if args.database:
        words += ['--database', args.database]
    words += [word for ms in args.delay for word in ('--delay', str(ms))]
    if args.no_token_caching:
        words.append('--no-token-caching')
    return ' '.join(words)


def measure(pin, name, args, kept=None):
    """Run one experiment, write down what it gave, and show it.

    :param name: the experiment
    :param kept: a :class:`bench.prepared.Prepared`, for several of them
    """
    args.out.mkdir(parents=True, exist_ok=True)
    system.ensure('bench')
    venv = environment.Environment(pin.release, 'run').ensure()
    chosen = plan.Plan(
        pin=pin,
        scale=args.scale,
        caching=not args.no_token_caching,
        kinds=tuple(dict.fromkeys(args.kind)),
        cases=tuple(dict.fromkeys(args.case)),
        rates=tuple(dict.fromkeys(args.rate)),
        databases=databases_of(name, args),
        delays=tuple(dict.fromkeys(args.delay)),
        kept=kept,
    )
    experiment = experiments.ALL[name]
    result = {
        'experiment': name,
        'release': pin.release,
        'version': pin.local_version,
        'scale': chosen.scale,
        'token_caching': chosen.caching,
        'command': command(name, args),
        'machine': machine.describe(venv, chosen.databases),
        'load_average': machine.load_average(),
    }
    fill_in(result, experiment, chosen)
    words = [name, pin.release, chosen.scale, *chosen.databases]
    words += [f'{delay}ms' for delay in chosen.delays]
    words += [*chosen.cases, *(f'{one:g}' for one in chosen.rates)]
    if not chosen.caching:
        words.append('no-token-caching')
    write(args.out / f'{"-".join(words)}.json', result)


def fill_in(result, experiment, chosen):
    """Run an experiment, and add what it gave to its result.

    :param chosen: a :class:`bench.plan.Plan`
    """
    with steal.Watch() as watch:
        points = experiment.run(chosen)
    result.update(steal=round(watch.share, 3), points=points)


def write(path, result):
    """Write down what a run gave, and show it."""
    path.write_text(json.dumps(result, indent=2) + '\n')
    experiment = experiments.ALL[result['experiment']]
    progress.say(experiment.text(result['points']))
    if result['steal'] >= 0.01:
        progress.say(
            f'{result["steal"]:.0%} of the time was stolen by the host of '
            'this machine; rates leave it out'
        )
    progress.say(path)
