# SPDX-License-Identifier: Apache-2.0

"""The command line of ``./ks``."""

import argparse
import importlib
import os
import pkgutil
import signal
import sys

from patchset import arguments
from patchset import commands
from patchset import errors
from patchset.commands import python

DESCRIPTION = (
    'Assemble, serve, test and package upstream Keystone with the '
    'revocation and caching patch set.'
)

_CODES = {errors.UsageError: 2, errors.NotInstalled: 3}


def parser():
    """The argument parser, with one subcommand per module of commands/."""
    top = argparse.ArgumentParser(prog='./ks', description=DESCRIPTION)
    subcommands = top.add_subparsers(metavar='COMMAND', required=True)
    for module in pkgutil.iter_modules(commands.__path__):
        command = importlib.import_module(f'patchset.commands.{module.name}')
        one = subcommands.add_parser(
            module.name,
            help=command.__doc__.partition('\n')[0],
            description=command.__doc__,
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        getattr(command, 'add_release', arguments.add_release)(one)
        if hasattr(command, 'add_arguments'):
            command.add_arguments(one)
        one.set_defaults(run=command.run)
    return top


def parse(words):
    """Parse a command line whose options and words may be mixed."""
    top = parser()
    # argparse stops collecting words at the first option.
    args, more = top.parse_known_args(words)
    if more and ('words' not in args or any(w[:1] == '-' for w in more)):
        top.error(f'unrecognized arguments: {" ".join(more)}')
    if more:
        args.words += more
    return args


def main(argv=None):
    """Run one command.

    :returns: the exit code: 0 success, 1 failure, 2 usage error, 3 missing
        program or system package, 130 Ctrl-C
    """
    words = sys.argv[1:] if argv is None else argv
    if words[:1] == ['python']:
        words = ['python', *python.split(words[1:])]
    try:
        args = parse(words)
        return args.run(args) or 0
    except errors.Error as error:
        print(f'ks: error: {error}', file=sys.stderr)
        return _CODES.get(type(error), 1)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 128 + signal.SIGPIPE
    except OSError as error:
        print(f'ks: error: {error}', file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print('ks: interrupted', file=sys.stderr)
        return 128 + signal.SIGINT


if __name__ == '__main__':
    sys.exit(main())
