# SPDX-License-Identifier: Apache-2.0

"""Test the patched Keystone, in parts.

  quick        some of each kind, in under two minutes once all is installed:
               the patches' form, proof, unit tests and a live server
  lint         style of every file that is ours
  unit         the tooling's own tests, and the patch set's unit tests
  performance  the patch set's performance tests: counts, no clocks
  areas        upstream's unit tests of what the patch set touches
  live         tempest's token tests, on MariaDB, memcached and uWSGI
  functional   the tooling's tests that start Keystone or install it
  proof        the topics' tests fail where their patches are not applied
  commits      areas, and a topic's own tests, after each topic in turn
  docs         the documentation and the release notes build
  upstream     upstream's whole unit suite, MariaDB and PostgreSQL included
  tempest      tempest's identity tests and keystone-tempest-plugin's
  workers      the revocation replica against servers that fail
  walk         random changes on stock and patched servers, all compared

Without a name the five from lint to live run, which takes under ten minutes
once everything is installed. A word that names no part is a regular
expression: only the tests whose id it matches run, and lint is left out. With
--stock, areas and live run: the stock tree has no tests of ours.

The parts upstream and tempest compare with the stock tree: a test that passes
there has to pass here. What stock gave is recorded for the newest release
(patches/<release>/stock/); for others, what did not pass runs on stock too.

The last line counts everything: N passed, N failed. The exit code is 1 if
something failed, and 3, without a count, if a system package is missing: all
parts' packages are looked for before the first part starts.
"""

import importlib
import os
import re
import time

from patchset import arguments
from patchset import errors
from patchset import progress
from patchset import series
from patchset import stopping
from patchset import system
from patchset.testing import options
from patchset.testing import results
from patchset.walk import rig
from patchset.walk import story

HELP = 'run the tests, or parts of them'

DEFAULT = ('lint', 'unit', 'performance', 'areas', 'live')
PARTS = (
    'quick', *DEFAULT, 'functional', 'proof', 'commits', 'docs', 'upstream',
    'tempest', 'workers', 'walk',
)  # fmt: skip
STOCK = ('areas', 'live')  # what of it the stock tree can run
NO_TESTS = ('lint', 'docs')  # checks, which an expression does not narrow
OF_TOPICS = ('proof', 'commits')
RECORDED = ('upstream', 'tempest')


def add_arguments(parser):
    """Add this command's arguments."""
    arguments.add_release(parser)
    arguments.add_stock(parser)
    parser.add_argument(
        '--concurrency',
        type=int,
        default=len(os.sched_getaffinity(0)),
        metavar='N',
        help='processes to spread tests over (default: one per CPU, here '
        '%(default)s)',
    )
    parser.add_argument(
        '--topic',
        action='append',
        default=[],
        dest='topics',
        help='with the parts commits and proof: only this topic; may be '
        'repeated',
    )
    parser.add_argument(
        '--record',
        action='store_true',
        help='with --stock and the part upstream or tempest: keep the result '
        'as the one to compare with',
    )
    _add_walk(parser)
    parser.add_argument(
        'words',
        nargs='*',
        metavar='PART|EXPRESSION',
        help=f'one of {", ".join(PARTS)}, or a regular expression',
    )


def _add_walk(parser):
    kinds = ', '.join(story.kinds())
    for name, what, value in (
        ('--seconds', 'how long it goes on', 60),
        ('--seed', 'the seed of its story', 1),
    ):
        parser.add_argument(
            name,
            type=int,
            metavar='N',
            default=value,
            help=f'with the part walk: {what} (default: %(default)s)',
        )
    parser.add_argument(
        '--cache',
        choices=rig.CACHES,
        default=rig.CACHES[0],
        help='with the part walk: whether its two nodes have one memcached or '
        'each its own (default: %(default)s)',
    )
    parser.add_argument(
        '--without',
        action='append',
        default=[],
        choices=story.kinds(),
        metavar='KIND',
        help=f'with the part walk: no steps of this kind, one of: {kinds}; '
        f'may be repeated',
    )


def run(args):
    """Run the parts one after the other, and sum up."""
    parts, expression = split(args.words, STOCK if args.stock else DEFAULT)
    _check(args, parts, expression)
    pin = arguments.pin(args)
    if args.topics:
        topics = series.load(pin.release)
        series.check_names(args.topics, [topic.name for topic in topics])
    chosen = options.Options(
        pin=pin,
        stock=args.stock,
        expression=expression,
        concurrency=args.concurrency,
        topics=tuple(args.topics),
        record=args.record,
        seconds=args.seconds,
        seed=args.seed,
        without=tuple(args.without),
        cache=args.cache,
    )
    stopping.in_order()
    modules = {
        part: importlib.import_module(f'patchset.testing.{part}')
        for part in parts
    }
    total = results.Result()
    with progress.no_silence():
        _need_packages(modules.values())
        for number, (part, module) in enumerate(modules.items(), 1):
            name = f'{part} ({number} of {len(modules)})'
            progress.say(f'== {name}: {module.__doc__.splitlines()[0]}')
            with progress.doing(f'{name} goes on'):
                total += _run(part, module, chosen)
    if not total.total:
        progress.step(f'no test matches {expression}')
    progress.say(str(total))
    return 1 if total.failed or not total.total else 0


def split(words, default=DEFAULT):
    """Tell parts from expressions.

    :param default: the parts to run when none is named
    :returns: a list of parts, and one regular expression or None
    :raises patchset.errors.UsageError: an expression is malformed
    """
    parts = list(dict.fromkeys(word for word in words if word in PARTS))
    others = [word for word in words if word not in PARTS]
    for word in others:
        try:
            re.compile(word)
        except re.error as error:
            raise errors.UsageError(
                f'{word!r} is no part ({", ".join(PARTS)}) and no regular '
                f'expression: {error}'
            )
    expression = '|'.join(others) or None
    if not parts:
        parts = [
            part for part in default if not (expression and part in NO_TESTS)
        ]
    return parts, expression


def _check(args, parts, expression):
    if args.concurrency < 1:
        raise errors.UsageError('--concurrency: 1 or more')
    if args.topics and not set(parts) <= set(OF_TOPICS):
        raise errors.UsageError('--topic goes with the parts commits, proof')
    whole = args.stock and set(parts) <= set(RECORDED) and not expression
    if args.record and not whole:
        raise errors.UsageError(
            '--record goes with --stock, the parts upstream or tempest, and '
            'no expression'
        )


def _need_packages(modules):
    """Have the system packages of all parts before the first one starts."""
    profiles = {name for module in modules for name in module.PACKAGES}
    if profiles:
        system.ensure(*sorted(profiles))


def _run(part, module, chosen):
    """Run one part; an error that ends it counts as one failure.

    :raises patchset.errors.NotInstalled: a missing program is no failed test
    """
    start = time.monotonic()
    try:
        result = module.run(chosen)
    except (errors.NotInstalled, errors.UsageError):
        raise
    except errors.Error as error:
        progress.say(f'FAILED {part}\n{error}\n')
        result = results.Result(failed=1)
    if not result.total:
        if chosen.expression:
            progress.say(f'{part}: no test matches {chosen.expression}')
        else:
            progress.say(f'FAILED {part}\nnot one test ran\n')
            result = results.Result(failed=1)
    seconds = time.monotonic() - start
    progress.say(f'{part}: {result} ({seconds:.0f} s)\n')
    return result
