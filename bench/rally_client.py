# SPDX-License-Identifier: Apache-2.0

"""Rally for one side, as a process in its own environment.

When Rally deletes a role, it takes a 404 response as a sign that the role is
already deleted. Stock also returns 404 if a role of the caller was deleted
immediately before. The remaining roles, granted to the admin, are part of all
later tokens of the admin, and slow down all later measurements of that side
only: :func:`restore` removes them.
"""

import contextlib
import json
import subprocess

from bench import client
from bench import load
from patchset import child
from patchset import errors
from patchset import paths

_ATTEMPTS = 5  # to delete a role


@contextlib.contextmanager
def started(side, venv):
    """Start a :mod:`bench.rally_worker` for one side; ends with the block.

    It does not wait until Rally is ready, so that several start in parallel.

    :param side: a :class:`bench.testbed.Side`
    :param venv: the environment with rally-openstack
    :returns: a :class:`Rally`
    """
    with paths.temporary('ks-rally-') as folder:
        log = folder / 'log'
        variables = {
            **child.variables(),
            **venv.variables(paths.ROOT),
            **side.keystone.credentials,
            # Rally reads files there.
            'HOME': str(folder),
        }
        with (
            open(log, 'w') as output,
            child.start(
                [venv.python, '-P', '-m', 'bench.rally_worker'],
                cwd=folder, env=variables, text=True, stderr=output,
                stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            ) as process,
        ):  # fmt: skip
            yield Rally(process, log)


class Rally:
    """Rally for one side.

    :param process: the running :mod:`bench.rally_worker`
    :param log: path of its log
    """

    def __init__(self, process, log):
        self._process = process
        self._log = log

    def get_ready(self):
        """Wait until it accepts scenarios.

        :raises patchset.errors.Error: rally has ended
        """
        self._receive()

    def run(self, scenario, iterations, clients):
        """Run a scenario of KeystoneBasic.

        :param iterations: number of iterations
        :param clients: number of concurrent iterations
        :returns: dict, see :mod:`bench.rally_worker`
        :raises patchset.errors.Error: rally has ended
        """
        name = f'KeystoneBasic.{scenario}'
        runner = {'constant': {'times': iterations, 'concurrency': clients}}
        subtask = {'title': name, 'scenario': {name: {}}, 'runner': runner}
        task = {'version': 2, 'title': name, 'subtasks': [subtask]}
        # The end of the process is reported when its response is read.
        with contextlib.suppress(BrokenPipeError):
            self._process.stdin.write(json.dumps(task) + '\n')
            self._process.stdin.flush()
        return json.loads(self._receive())

    def _receive(self):
        response = self._process.stdout.readline()
        if not response:
            raise errors.Error(f'rally ended: {child.last_words(self._log)}')
        return response


def roles(side):
    """Ids of all roles of a side, as a set."""
    return {role for (role,) in side.query('SELECT id FROM role')}


def restore(side, kept):
    """Delete the roles created since then through the API, and log in.

    :param kept: the previous result of :func:`roles`
    :raises patchset.errors.Error: some cannot be deleted
    """
    for _ in range(_ATTEMPTS):
        for role in roles(side) - kept:
            log_in(side)
            # The next attempt finds out whether it is deleted.
            with contextlib.suppress(errors.Error):
                caller = client.token(side.keystone)
                client.request(
                    'DELETE', side.keystone, f'/roles/{role}', caller
                )
    if left := roles(side) - kept:
        raise errors.Error(
            f'{side.name}: {len(left)} roles that rally has left could not be '
            f'deleted in {_ATTEMPTS} attempts'
        )
    log_in(side)


def log_in(side):
    """Send a request without a token to each process of a side.

    A process of stock that issued a token while a role was deleted can respond
    with 404 to each token from then on: it reads what the last request has
    left on its thread, and no request gets far enough to replace that. A
    request without a token does.

    :raises patchset.errors.Error: a request failed
    """
    request = '', '', client.login_body(side.keystone)
    # Of the concurrent requests, each process receives at least one.
    clients = 2 * side.processes
    load.exactly(side.url, [request] * 2 * clients, clients)
