# SPDX-License-Identifier: Apache-2.0

"""Rally of one side, as a process in its own environment."""

import contextlib
import json
import os
import pathlib
import subprocess
import tempfile

from patchset import child
from patchset import errors
from patchset import logs
from patchset import paths


class Rally:
    """Rally for one side: a :mod:`bench.rally_worker`, ends with the block.

    Several that start at the same time get ready together.

    :param side: a :class:`bench.rig.Side`
    :param venv: the environment that has rally-openstack
    """

    def __init__(self, side, venv):
        self._side = side
        self._venv = venv
        self._stack = contextlib.ExitStack()
        self._process = None
        self._log = None

    def __enter__(self):
        with contextlib.ExitStack() as stack:
            folder = pathlib.Path(
                stack.enter_context(
                    tempfile.TemporaryDirectory(prefix='ks-rally-')
                )
            )
            self._log = folder / 'log'
            self._process = child.start(
                [self._venv.python, '-P', '-m', 'bench.rally_worker'],
                cwd=folder,
                env={
                    **os.environ,
                    **self._venv.variables(paths.ROOT),
                    # It looks for files of its own there.
                    'HOME': str(folder),
                },
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=stack.enter_context(open(self._log, 'w')),
                text=True,
            )
            stack.callback(self._stop)
            self._tell(self._spec())
            self._stack = stack.pop_all()
        return self

    def __exit__(self, *_):
        self._stack.close()

    def get_ready(self):
        """Wait until it takes scenarios.

        :raises patchset.errors.Error: rally has ended
        """
        self._answer()

    def begin(self, scenario, times, at_once):
        """Start a scenario of KeystoneBasic; :meth:`end` waits for it."""
        name = f'KeystoneBasic.{scenario}'
        runner = {'constant': {'times': times, 'concurrency': at_once}}
        subtask = {'title': name, 'scenario': {name: {}}, 'runner': runner}
        self._tell({'version': 2, 'title': name, 'subtasks': [subtask]})

    def end(self):
        """What the scenario gave.

        :returns: dict, see :mod:`bench.rally_worker`
        :raises patchset.errors.Error: rally has ended
        """
        return json.loads(self._answer())

    def _tell(self, what):
        # The end of the process is reported when its answer is read.
        with contextlib.suppress(BrokenPipeError):
            self._process.stdin.write(json.dumps(what) + '\n')
            self._process.stdin.flush()

    def _answer(self):
        answer = self._process.stdout.readline()
        if not answer:
            raise errors.Error(f'rally ended: {logs.reason(self._log, 0)}')
        return answer

    def _stop(self):
        child.stop(self._process)
        self._process.stdin.close()
        self._process.stdout.close()

    def _spec(self):
        variables = self._side.keystone.credentials
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
