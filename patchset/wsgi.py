# SPDX-License-Identifier: Apache-2.0

"""The WSGI server that Keystone runs under: uWSGI, from its wheel."""

import pathlib

from patchset import child
from patchset import paths

# A token with many roles or groups travels in one header; upstream's own
# deployments give headers 64 kB.
HEADERS = 65535
MERCY = 5  # seconds that requests under way have to end at a stop

# Stock's needs help before several threads can use it.
_STOCK = pathlib.Path(__file__).parent / 'tree_scripts' / 'application.py'


def application(tree):
    """Path of the file with the WSGI application of a tree."""
    is_stock = tree.is_relative_to(paths.BUILD / 'upstream')
    return _STOCK if is_stock else tree / 'keystone' / 'wsgi' / 'api.py'


def command(environment, tree, port, processes, threads, workers):
    """Words of the server's command, to be run in the state folder.

    :param environment: the environment that has uWSGI
    :param tree: path of the source tree to run
    :param workers: name of a file there that gets a line for each process
        that is ready for requests
    """
    return [
        environment.bin / 'uwsgi',
        '--http-socket', f'127.0.0.1:{port}',
        '--wsgi-file', application(tree),
        '--pyargv',
        '--config-file keystone.conf --config-dir keystone.conf.d',
        '--master', '--no-orphans', '--need-app', '--single-interpreter',
        # Each process opens connections of its own.
        '--lazy-apps', '--thunder-lock',
        '--processes', processes, '--threads', threads,
        # As in upstream's configuration, whatever the number of threads.
        '--enable-threads',
        '--buffer-size', HEADERS,
        # A client that keeps its connection would keep a thread as well.
        '--add-header', 'Connection: close',
        '--hook-accepting', f'appendn:{workers} ready',
        '--die-on-term',
        '--hook-master-start', 'unix_signal:15 gracefully_kill_them_all',
        '--worker-reload-mercy', MERCY,
    ]  # fmt: skip


def variables(environment, tree):
    """The server's whole environment: nothing configures it but its files."""
    return {**child.variables(), **environment.variables(tree)}
