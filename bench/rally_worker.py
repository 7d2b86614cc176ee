# SPDX-License-Identifier: Apache-2.0

"""Runs Rally scenarios, as a process in Rally's own environment.

The cloud is that of the environment variables, and files are created in the
current folder. The first line of output is ``ready``. Each line on standard
input is a task for Rally, in JSON; the response is one line with its only
workload: ``load_duration`` (seconds, null if nothing was
run), and ``iterations``, a list of [seconds, reason of the failure or null].
"""

import json
import os
import pathlib
import sys

from rally import api
from rally import exceptions
from rally.common.db import schema
from rally.env import env_mgr
from rally.task import engine

_CONFIGURATION = 'rally.conf'


def main():
    """Respond as described for the module; output of Rally is redirected."""
    responses = os.fdopen(os.dup(1), 'w', buffering=1)
    os.dup2(2, 1)
    folder = pathlib.Path.cwd()
    pathlib.Path(_CONFIGURATION).write_text(
        f'[database]\nconnection = sqlite:///{folder}/rally.db\n'
    )
    arguments = ['--config-file', _CONFIGURATION]
    api.API(config_args=arguments, skip_db_check=True)
    schema.schema_create()
    spec = env_mgr.EnvManager.create_spec_from_sys_environ()['spec']
    cloud = spec['existing@openstack']
    # Otherwise, rally would create one for each scenario.
    cloud['users'] = [cloud['admin']]
    environment = env_mgr.EnvManager.create('keystone', spec)
    rally = api.API(config_args=arguments)
    # Tasks are never aborted. Otherwise, each would finally wait for a thread
    # that checks for that every two seconds.
    engine.ResultConsumer.wait_and_abort = lambda consumer: None
    responses.write('ready\n')
    for line in sys.stdin:
        uuid = rally.task.create(environment.uuid)['uuid']
        try:
            rally.task.start(environment.uuid, json.loads(line), task=uuid)
        except exceptions.ValidationError as error:
            # The error only says that the cloud is not available.
            health = environment.check_health()['existing@openstack']
            reason = health.get('traceback', health['message'])
            raise RuntimeError(reason.splitlines()[-1]) from error
        result = rally.task.get(uuid, detailed=True)
        responses.write(json.dumps(workload(result)) + '\n')


def workload(task):
    """Result of a task with one workload."""
    result = task['subtasks'][0]['workloads'][0]
    return {
        'load_duration': result['load_duration'],
        'iterations': [
            [run['duration'], run['error'][1] if run['error'] else None]
            for run in result['data']
        ],
    }


if __name__ == '__main__':
    main()
