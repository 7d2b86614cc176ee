# SPDX-License-Identifier: Apache-2.0

"""Run a Keystone on 127.0.0.1 until Ctrl-C or SIGTERM.

What is missing is made first: the patched tree, the keys, the database's
schema, the user admin. Without --database and --cache it needs no service:
the database is an SQLite file and the cache is in the process.

The admin's password is random unless the variable OS_BOOTSTRAP_PASSWORD or
--admin-password-file gives one. It is shown once, and kept with the rest of
the admin's environment in the state folder, in files that only their owner
can read. To change it, give another one.

Options of your own for Keystone belong in keystone.conf.d/*.conf in the
state folder; policy rules in policy.yaml there.
"""

import argparse
import os
import pathlib
import shlex
import signal
import sys

from patchset import arguments
from patchset import cache_url
from patchset import database_url
from patchset import deployment
from patchset import environment
from patchset import errors
from patchset import openrc
from patchset import paths
from patchset import ports
from patchset import progress
from patchset import trees

HELP = 'run a patched (or stock) Keystone on 127.0.0.1'


class Terminated(BaseException):
    """SIGTERM or SIGHUP came."""


def add_arguments(parser):
    """Add this command's arguments."""
    arguments.add_release(parser)
    arguments.add_stock(parser)
    parser.add_argument(
        '--port',
        type=_port,
        default=5000,
        help='TCP port to listen on (default: %(default)s)',
    )
    parser.add_argument(
        '--database',
        metavar='URL',
        help='mysql://USER:PASSWORD@HOST/NAME, postgresql://... or '
        'sqlite:////FILE (default: keystone.db in the state folder)',
    )
    parser.add_argument(
        '--cache',
        metavar='memcached://HOST:PORT',
        help='a memcached to cache in (default: a cache in the process)',
    )
    parser.add_argument(
        '--state',
        metavar='DIR',
        type=pathlib.Path,
        help='folder of the keys, the database, the log and the admin\'s '
        'environment (default: build/serve/RELEASE, with -stock for stock)',
    )
    parser.add_argument(
        '--admin-password-file',
        metavar='FILE',
        type=pathlib.Path,
        help="file with the admin's new password on its first line",
    )


def run(args):
    """Serve until told to stop."""
    stopper = _Stopper()
    try:
        _serve(args, stopper)
    except Terminated:
        if not stopper.serving:
            return 128 + signal.SIGTERM
    except KeyboardInterrupt:
        if not stopper.serving:
            raise
    return 0


def _serve(args, stopper):
    # What can be wrong with the arguments is told before any download.
    pin = arguments.pin(args)
    password = _password(args)
    if args.database:
        database_url.normalise(args.database)
    if args.cache:
        cache_url.address(args.cache)
    ports.check(args.port)
    tree = trees.get(pin, args.stock)
    name = f'{pin.release}-stock' if args.stock else pin.release
    keystone = deployment.Deployment(
        tree,
        environment.Environment(pin.release, 'run').ensure(),
        args.state or paths.BUILD / 'serve' / name,
        port=args.port,
        database=args.database,
        cache=args.cache,
        password=password,
    )
    try:
        keystone.prepare()
        progress.step('starting the server')
        keystone.start()
        progress.step(f'ready; requests are logged in {keystone.log}')
        stopper.serving = True
        _tell(keystone)
        keystone.wait()
    finally:
        stopper.deafen()
        if stopper.serving:
            progress.step('stopping')
        keystone.stop()
        if stopper.serving:
            progress.step('stopped')


class _Stopper:
    """Turns the signals that end a service into an exception."""

    serving = False

    def __init__(self):
        for number in (signal.SIGTERM, signal.SIGHUP):
            # Under nohup a SIGHUP stays without effect.
            if signal.getsignal(number) != signal.SIG_IGN:
                signal.signal(number, self._raise)

    @staticmethod
    def _raise(number, frame):
        raise Terminated

    @staticmethod
    def deafen():
        """From now on nothing interrupts the orderly end."""
        for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
            signal.signal(number, signal.SIG_IGN)


def _port(text):
    number = int(text) if text.isdecimal() else 0
    if not 0 < number < 65536:
        raise argparse.ArgumentTypeError('a port is a number, 1 to 65535')
    return number


def _password(args):
    """The password that the user gives; None if there is none.

    :raises patchset.errors.UsageError: it is empty or cannot be read
    """
    if args.admin_password_file:
        try:
            lines = args.admin_password_file.read_text().splitlines()
        except (OSError, UnicodeDecodeError) as error:
            reason = getattr(error, 'strerror', None) or 'not text'
            raise errors.UsageError(f'{args.admin_password_file}: {reason}')
        if not lines or not lines[0]:
            raise errors.UsageError(
                f'{args.admin_password_file}: its first line is empty'
            )
        return lines[0]
    return os.environ.get('OS_BOOTSTRAP_PASSWORD') or None


def _tell(keystone):
    """Print where Keystone is and how to talk to it."""
    shown = dict(keystone.credentials)
    if not keystone.password_is_new:
        del shown['OS_PASSWORD']
    client = shlex.quote(str(keystone.environment.bin / 'openstack'))
    source = f'. {shlex.quote(str(keystone.openrc))}'
    lines = [
        '',
        f'Keystone answers on {keystone.url}',
        '',
        *openrc.exports(shown),
    ]
    if 'OS_PASSWORD' not in shown:
        lines.append(f'# OS_PASSWORD is in {keystone.openrc}')
    lines += [
        '',
        f'openrc:      {keystone.openrc}',
        f'clouds.yaml: {keystone.clouds} (cloud "keystone")',
        '',
        'A first request, in another terminal:',
        f'  {source}',
        f'  {client} token issue',
        'or without the client:',
        f'  curl {keystone.url}',
        '',
        'Ctrl-C stops it.',
    ]
    progress.say('\n'.join(lines))
    sys.stdout.flush()
