# SPDX-License-Identifier: Apache-2.0

"""A Keystone as operators run it, for tests: database, cache, WSGI server."""

import contextlib
import pathlib
import tempfile

from patchset import deployment
from patchset import environment
from patchset import progress
from patchset import trees
from patchset.services import mariadb
from patchset.services import memcached
from patchset.services import server

# Tests make users by the hundred: a password costs them as little as
# Keystone allows.
OPTIONS = {'identity': {'password_hash_rounds': 4}}
PROCESSES = 2
THREADS = 4
# Stock keeps a request's token where the other threads of its process see
# it, and so refuses a request now and then that it should serve.
STOCK_THREADS = 1


@contextlib.contextmanager
def start(options):
    """Start MariaDB, memcached and Keystone; stop them at the end.

    :param options: a :class:`patchset.testing.options.Options`
    :returns: the :class:`patchset.deployment.Deployment`
    """
    venv = environment.Environment(options.pin.release, 'run').ensure()
    tree = trees.get(options.pin, options.stock)
    with contextlib.ExitStack() as stack:
        folder = stack.enter_context(
            tempfile.TemporaryDirectory(prefix='ks-live-')
        )
        with progress.stage('starting MariaDB and memcached'):
            database = stack.enter_context(mariadb.MariaDB())
            cache = stack.enter_context(memcached.Memcached())
        keystone = deployment.Deployment(
            tree, venv, pathlib.Path(folder) / 'keystone',
            port=server.free_port(), database=database.url('keystone'),
            cache=cache.url, processes=PROCESSES,
            threads=STOCK_THREADS if options.stock else THREADS,
            options=OPTIONS,
        )  # fmt: skip
        with progress.stage('starting Keystone'):
            stack.enter_context(keystone)
        yield keystone
