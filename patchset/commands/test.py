# SPDX-License-Identifier: Apache-2.0

"""Test the patched Keystone, in parts.

By default, the five parts from lint to smoke run, in under ten minutes once
everything is installed. A word that is not a part is a regular expression that
selects tests by id; lint is skipped then. With --stock, the default is areas
and smoke, since the stock tree has no tests of the patch set.

The parts upstream and tempest compare with the stock tree: a test that passes
there must pass here. The results of stock are recorded for the newest release
(patches/<release>/stock/); for others, failed tests are repeated on stock.

The last line shows the totals: N passed, N failed. The exit code is 1 if any
test failed, and 3, without totals, if a system package is missing; this is
checked for all parts before the first one starts.
"""

import importlib
import os
import re
import time

from patchset import arguments
from patchset import errors
from patchset import memory
from patchset import pins
from patchset import progress
from patchset import series
from patchset import stopping
from patchset import system
from patchset import test_parts
from patchset import urls
from patchset.test_parts import results
from patchset.walk import steps
from patchset.walk import testbed

DEFAULT = ('lint', 'unit', 'performance', 'areas', 'smoke')
PARTS = (
    'quick', *DEFAULT, 'functional', 'proof', 'commits', 'docs', 'upstream',
    'tempest', 'foreign', 'integration', 'walk',
)  # fmt: skip
STOCK = ('areas', 'smoke')  # what of it the stock tree can run
# What is about the patched tree alone.
PATCHED = (
    'quick', 'unit', 'performance', 'functional', 'proof', 'commits',
    'integration', 'walk',
)  # fmt: skip
NO_TESTS = ('lint', 'docs')  # checks, which an expression does not narrow
OF_TOPICS = ('proof', 'commits')
RECORDED = ('upstream', 'tempest')


def add_arguments(parser):
    arguments.add_stock(parser)
    parser.add_argument(
        '--concurrency',
        type=arguments.between('number', int, 1, 1000),
        default=len(os.sched_getaffinity(0)),
        metavar='N',
        help='number of test processes (default: one per CPU, here '
        '%(default)s)',
    )
    parser.add_argument(
        '--topic',
        action='append',
        default=[],
        dest='topics',
        help='commits, proof: test only this topic; may be repeated',
    )
    parser.add_argument(
        '--record',
        action='store_true',
        help='upstream, tempest: record the results as the baseline; requires '
        '--stock',
    )
    parser.add_argument(
        '--database-url',
        metavar='URL',
        help='integration: test the replica of the events, and pruning, on '
        'this server, such as cockroachdb+psycopg2://root@host:26257/, or '
        'postgresql://...; the user must be allowed to create databases, '
        'which are dropped again',
    )
    _add_walk(parser)
    parser.add_argument(
        'words',
        nargs='*',
        metavar='PART|EXPRESSION',
        help=f'one of {", ".join(PARTS)}, or a regular expression',
    )
    parser.epilog = '\n'.join(['parts:', *_titles()])


def _titles():
    for part in PARTS:
        title = _module(part).__doc__.splitlines()[0]
        yield f'  {part:12} {title.removesuffix(".")}'


def _module(part):
    return importlib.import_module(f'patchset.test_parts.{part}')


def _add_walk(parser):
    kinds = ', '.join(steps.kinds())
    for name, what, value in (
        ('--seconds', 'duration', 60),
        ('--seed', 'seed of the random changes', 1),
    ):
        parser.add_argument(
            name,
            type=arguments.between('number', int, 1, 10**9),
            metavar='N',
            default=value,
            help=f'walk: {what} (default: %(default)s)',
        )
    parser.add_argument(
        '--cache',
        choices=testbed.CACHES,
        default=testbed.CACHES[0],
        help='walk: whether the two nodes share a memcached server or have '
        'one each (default: %(default)s)',
    )
    parser.add_argument(
        '--provider',
        choices=testbed.PROVIDERS,
        default=testbed.PROVIDERS[0],
        help='walk: the token provider (default: %(default)s)',
    )
    parser.add_argument(
        '--without',
        action='append',
        default=[],
        choices=steps.kinds(),
        metavar='KIND',
        help=f'walk: skip steps of this kind, one of: {kinds}; may be '
        f'repeated',
    )


def run(args):
    """Run the parts one after the other, and print the totals."""
    parts, expression = split(args.words, STOCK if args.stock else DEFAULT)
    _check(args, parts, expression)
    pin = pins.load(args.release)
    if args.topics:
        topics = series.load(pin.release)
        series.check_names(args.topics, [topic.name for topic in topics])
    args.database_url = _database_url(args.database_url, parts)
    chosen = test_parts.Options(
        pin=pin,
        expression=expression,
        **arguments.of_fields(test_parts.Options, args),
    )
    stopping.in_order()
    modules = {part: _module(part) for part in parts}
    total = results.Result()
    with memory.temporary(), progress.no_silence():
        # Of all parts, before the first one starts.
        profiles = {one for part in modules.values() for one in part.PACKAGES}
        if profiles:
            system.ensure(*sorted(profiles))
        for number, (part, module) in enumerate(modules.items(), 1):
            name = f'{part} ({number} of {len(modules)})'
            progress.say(f'== {name}: {module.__doc__.splitlines()[0]}')
            with progress.doing(f'{name} still running'):
                total += _run(part, module, chosen)
    if not total.total:
        progress.step(f'no test matches {expression}')
    progress.say(str(total))
    return 1 if total.failed or not total.total else 0


def split(words, default=DEFAULT):
    """Separate parts from expressions.

    :param default: the parts to run if none is given
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
                f'{word!r} is neither a part ({", ".join(PARTS)}) nor a '
                f'regular expression: {error}'
            )
    expression = '|'.join(others) or None
    if not parts:
        parts = [
            part for part in default if not (expression and part in NO_TESTS)
        ]
    return parts, expression


def _check(args, parts, expression):
    for part in parts:
        if args.stock and part in PATCHED:
            raise errors.UsageError(f'{part}: not available with --stock')
    if args.topics and not set(parts) <= set(OF_TOPICS):
        raise errors.UsageError('--topic requires the part commits or proof')
    whole = args.stock and set(parts) <= set(RECORDED) and not expression
    if args.record and not whole:
        raise errors.UsageError(
            '--record requires --stock, the part upstream or tempest, and no '
            'expression'
        )


def _database_url(url, parts):
    """The URL with its driver named; None without one.

    :raises patchset.errors.UsageError: it cannot be used
    """
    if url is None:
        return None
    if parts != ['integration']:
        raise errors.UsageError('--database-url requires the part integration')
    url = urls.normalise(url, also=('cockroachdb+psycopg2',))
    if url.startswith('sqlite'):
        raise errors.UsageError('--database-url requires a database server')
    return url


def _run(part, module, chosen):
    """Run one part; an error that aborts it counts as one failure.

    :raises patchset.errors.NotInstalled: a program is missing
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
            progress.say(f'FAILED {part}\nno tests ran\n')
            result = results.Result(failed=1)
    seconds = time.monotonic() - start
    progress.say(f'{part}: {result} ({seconds:.0f} s)\n')
    return result
