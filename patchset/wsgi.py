# SPDX-License-Identifier: Apache-2.0

"""The WSGI server that Keystone runs under: uWSGI, from its wheel."""

from patchset import child
from patchset import paths

# A token with many roles or groups travels in one header; upstream's own
# deployments give headers 64 kB.
HEADERS = 65535
MERCY = 5  # seconds that requests under way have to end at a stop


def command(keystone, workers):
    """Words of the server's command, to be run in the state folder.

    :param keystone: a :class:`patchset.deployment.Deployment`
    :param workers: name of a file there that gets a line for each process
        that is ready for requests
    """
    application = keystone.tree / 'keystone' / 'wsgi' / 'api.py'
    if keystone.tree.is_relative_to(paths.BUILD / 'upstream'):
        # Stock's needs help before several threads can use it.
        application = paths.SCRIPTS / 'application.py'
    return [
        *serve(keystone, application, keystone.port, keystone.processes),
        '--pyargv',
        '--config-file keystone.conf --config-dir keystone.conf.d',
        '--threads', keystone.threads,
        # As in upstream's configuration, whatever the number of threads.
        '--enable-threads',
        '--hook-accepting', f'appendn:{workers} ready',
        '--hook-master-start', 'unix_signal:15 gracefully_kill_them_all',
        '--worker-reload-mercy', MERCY,
    ]  # fmt: skip


def serve(keystone, application, port, processes):
    """Words of a command that serves a file with Keystone's environment."""
    return [
        keystone.environment.bin / 'uwsgi',
        '--http-socket', f'127.0.0.1:{port}', '--wsgi-file', application,
        '--master', '--no-orphans', '--need-app', '--single-interpreter',
        # Each process opens connections of its own.
        '--lazy-apps', '--thunder-lock', '--processes', processes,
        '--buffer-size', HEADERS,
        # A client that keeps its connection would keep a thread as well.
        '--add-header', 'Connection: close', '--die-on-term',
    ]  # fmt: skip


def variables(environment, tree):
    """The server's whole environment: nothing configures it but its files."""
    return {**child.variables(), **environment.variables(tree)}
