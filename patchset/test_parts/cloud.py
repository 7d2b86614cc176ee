# SPDX-License-Identifier: Apache-2.0

"""Keystones for tests, and one as operators run it."""

import contextlib
import pathlib

from patchset import assemble
from patchset import deployment
from patchset import environment
from patchset import keystone_conf
from patchset import paths
from patchset import pins
from patchset import progress
from patchset.services import mariadb
from patchset.services import memcached
from patchset.services import server

# Tests make users by the hundred: a password costs them as little as
# Keystone allows.
_OPTIONS = {'identity': {'password_hash_rounds': 4}}
PROCESSES = 2
THREADS = 4
# Stock keeps a request's token where the other threads of its process see
# it, and so refuses a request now and then that it should serve.
STOCK_THREADS = 1


def keystone(
    folder, *, pin=None, stock=False, lock='run', options=None, **arguments
):
    """A :class:`patchset.deployment.Deployment` with cheap passwords.

    :param folder: its state folder
    :param pin: a :class:`patchset.pins.Pin`; by default, of the newest release
    :param lock: name of the lock of its environment
    :param options: {section: {option: value}} of keystone.conf
    :param arguments: further ones of the deployment; its port is a free one
        by default
    """
    pin = pin or pins.load(pins.newest())
    return deployment.Deployment(
        assemble.ensure(pin, stock),
        environment.Environment(pin.release, lock).ensure(),
        pathlib.Path(folder),
        options=keystone_conf.merge(_OPTIONS, options),
        **{'port': server.free_port(), **arguments},
    )


@contextlib.contextmanager
def start(options):
    """Start MariaDB, memcached and Keystone; stop them at the end.

    :param options: a :class:`patchset.test_parts.Options`
    :returns: the :class:`patchset.deployment.Deployment`
    """
    with contextlib.ExitStack() as stack:
        folder = stack.enter_context(paths.temporary('ks-live-'))
        with progress.stage('starting MariaDB and memcached'):
            database = stack.enter_context(mariadb.MariaDB())
            cache = stack.enter_context(memcached.Memcached())
        one = keystone(
            folder / 'keystone', pin=options.pin, stock=options.stock,
            database=database.url('keystone'), cache=cache.url,
            processes=PROCESSES,
            threads=STOCK_THREADS if options.stock else THREADS,
        )  # fmt: skip
        with progress.stage('starting Keystone'):
            stack.enter_context(one)
        yield one


def start_all(deployments):
    """Start the servers of several deployments at the same time."""
    for one in deployments:
        one.launch()
    for one in deployments:
        one.get_ready()


def stop_all(deployments):
    """Stop several deployments at the same time."""
    for one in deployments:
        one.terminate()
    for one in deployments:
        one.stop()
