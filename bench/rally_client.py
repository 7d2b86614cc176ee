# SPDX-License-Identifier: Apache-2.0

"""Rally of one side, as a process in its own environment.

When Rally deletes a role, it takes a 404 response as a sign that the role is
already deleted. Stock also returns 404 if a role of the caller was deleted
immediately before. The remaining roles, granted to the admin, are part of all
later tokens of the admin, and slow down all later measurements of that side
only: :func:`restore` removes them.
"""

import contextlib
import json
import os
import pathlib
import subprocess
import tempfile

from bench import client
from bench import load
from patchset import child
from patchset import errors
from patchset import paths

_TRIES = 5  # to delete a role


@contextlib.contextmanager
def started(side, venv):
    """Start a :mod:`bench.rally_worker` for one side; ends with the block.

    Several that start at the same time get ready together.

    :param side: a :class:`bench.testbed.Side`
    :param venv: the environment that has rally-openstack
    :returns: a :class:`Rally`
    """
    with tempfile.TemporaryDirectory(prefix='ks-rally-') as folder:
        log = pathlib.Path(folder) / 'log'
        with open(log, 'w') as output:
            process = child.start(
                [venv.python, '-P', '-m', 'bench.rally_worker'],
                cwd=folder,
                # It looks for files of its own at home.
                env={
                    **os.environ, **venv.variables(paths.ROOT), 'HOME': folder,
                },
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=output,
                text=True,
            )  # fmt: skip
        with process:
            try:
                yield Rally(process, log, _spec(side.keystone.credentials))
            finally:
                child.stop(process)


def _spec(variables):
    """What Rally is told of a cloud with an admin of these variables."""
    admin = {
        'username': variables['OS_USERNAME'],
        'password': variables['OS_PASSWORD'],
        'project_name': variables['OS_PROJECT_NAME'],
        'user_domain_name': variables['OS_USER_DOMAIN_NAME'],
        'project_domain_name': variables['OS_PROJECT_DOMAIN_NAME'],
    }
    return {
        'existing@openstack': {
            'auth_url': variables['OS_AUTH_URL'],
            'region_name': variables['OS_REGION_NAME'],
            'admin': admin,
            # Or rally would make one for each scenario, and two before.
            'users': [admin],
        }
    }


class Rally:
    """Rally for one side.

    :param process: the running :mod:`bench.rally_worker`
    :param log: path of its log
    :param spec: dict, what it is told first
    """

    def __init__(self, process, log, spec):
        self._process = process
        self._log = log
        self._tell(spec)

    def get_ready(self):
        """Wait until it takes scenarios.

        :raises patchset.errors.Error: rally has ended
        """
        self._answer()

    def run(self, scenario, times, at_once):
        """Run a scenario of KeystoneBasic.

        :param times: number of iterations
        :param at_once: how many are under way at once
        :returns: dict, see :mod:`bench.rally_worker`
        :raises patchset.errors.Error: rally has ended
        """
        name = f'KeystoneBasic.{scenario}'
        runner = {'constant': {'times': times, 'concurrency': at_once}}
        subtask = {'title': name, 'scenario': {name: {}}, 'runner': runner}
        self._tell({'version': 2, 'title': name, 'subtasks': [subtask]})
        return json.loads(self._answer())

    def _tell(self, what):
        # The end of the process is reported when its answer is read.
        with contextlib.suppress(BrokenPipeError):
            self._process.stdin.write(json.dumps(what) + '\n')
            self._process.stdin.flush()

    def _answer(self):
        answer = self._process.stdout.readline()
        if not answer:
            raise errors.Error(f'rally ended: {child.last_words(self._log)}')
        return answer


def roles(side):
    """Ids of all roles of a side, as a set."""
    return {role for (role,) in side.query('SELECT id FROM role')}


def restore(side, kept):
    """Delete the roles that came since, through the API, and log in.

    :param kept: what :func:`roles` gave before
    :raises patchset.errors.Error: some are still there
    """
    for _ in range(_TRIES):
        for role in roles(side) - kept:
            log_in(side)
            # The next try tells whether it is gone.
            with contextlib.suppress(errors.Error):
                caller = client.token(side.keystone)
                client.delete(side.keystone, caller, f'/roles/{role}')
    if left := roles(side) - kept:
        raise errors.Error(
            f'{side.name}: {len(left)} roles that rally has left could not be '
            f'deleted in {_TRIES} tries'
        )
    log_in(side)


def log_in(side):
    """Have each process of a side answer a request without a token.

    A process of stock that was asked for a token while a role went may answer
    404 to each token from then on: it reads what the last request left on its
    thread, and none gets as far as to leave something else. A request without
    a token ends that.

    :raises patchset.errors.Error: an answer was not a success
    """
    request = '', '', client.login_body(side.keystone)
    # Of those that wait at once each process takes one, and is busy with it
    # while the rest is taken.
    clients = 2 * side.processes
    load.exactly(side.url, [request] * 2 * clients, clients)
