# SPDX-License-Identifier: Apache-2.0

"""Run a Keystone on 127.0.0.1 until Ctrl-C or SIGTERM.

The patched tree, the keys, the database schema and the user admin are created
first if missing. Without --database and --cache no other service is needed:
the database is an SQLite file, and the cache is in the process.

The password of admin is random unless set by OS_BOOTSTRAP_PASSWORD or
--admin-password-file. It is printed once and stored with the rest of the
environment in the state folder, in files readable only by their owner. To
change the password, set a new one.

Put additional Keystone options in keystone.conf.d/*.conf in the state folder,
and policy rules in policy.yaml there.
"""

import os
import pathlib
import shlex

from patchset import arguments
from patchset import assemble
from patchset import deployment
from patchset import environment
from patchset import errors
from patchset import openrc
from patchset import paths
from patchset import pins
from patchset import ports
from patchset import progress
from patchset import stopping
from patchset import urls


def add_arguments(parser):
    arguments.add_stock(parser)
    arguments.add_port(parser, 'TCP port to listen on')
    parser.add_argument(
        '--database',
        metavar='URL',
        help='mysql://USER:PASSWORD@HOST/NAME, postgresql://... or '
        'sqlite:////FILE (default: keystone.db in the state folder)',
    )
    parser.add_argument(
        '--cache',
        metavar='memcached://HOST:PORT',
        help='memcached server to use (default: an in-process cache)',
    )
    parser.add_argument(
        '--state',
        metavar='DIR',
        type=pathlib.Path,
        help='folder for keys, database, log and the environment of admin '
        '(default: build/serve/RELEASE, with -stock for stock)',
    )
    parser.add_argument(
        '--admin-password-file',
        metavar='FILE',
        type=pathlib.Path,
        help='file with the new password of admin on its first line',
    )


def run(args):
    """Serve until told to stop."""
    stopping.in_order()
    keystone = _keystone(args)
    progress.step('starting Keystone')
    with keystone, stopping.by_signal():
        progress.step(f'ready; requests are logged in {keystone.log}')
        _tell(keystone)
        keystone.wait()
    progress.step('stopped')


def _keystone(args):
    # Report invalid arguments before any download.
    pin = pins.load(args.release)
    password = _password(args)
    if args.database:
        urls.normalise(args.database)
    if args.cache:
        urls.cache_address(args.cache)
    ports.check(args.port)
    tree = assemble.ensure(pin, args.stock)
    name = f'{pin.release}-stock' if args.stock else pin.release
    return deployment.Deployment(
        tree,
        environment.Environment(pin.release, 'run').ensure(),
        args.state or paths.BUILD / 'serve' / name,
        port=args.port,
        database=args.database,
        cache=args.cache,
        password=password,
    )


def _password(args):
    """The password that the user provides, or None.

    :raises patchset.errors.UsageError: the file is empty or unreadable
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
    """Print the address of Keystone and how to use it."""
    shown = dict(keystone.credentials)
    if not keystone.password_is_new:
        del shown['OS_PASSWORD']
    client = shlex.quote(str(keystone.environment.bin / 'openstack'))
    source = f'. {shlex.quote(str(keystone.openrc))}'
    lines = [
        '',
        f'Keystone is running at {keystone.url}',
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
        'To send a request, in another terminal:',
        f'  {source}',
        f'  {client} token issue',
        'or without the client:',
        f'  curl {keystone.url}',
        '',
        'Press Ctrl-C to stop.',
    ]
    progress.say('\n'.join(lines))
