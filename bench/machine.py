# SPDX-License-Identifier: Apache-2.0

"""The machine and the programs of a run."""

import os
import pathlib
import platform
import re

from bench import client
from bench import databases
from patchset import child
from patchset import environment
from patchset import errors


def facts(plan):
    """Versions and machine of a run: a part of its result.

    :param plan: a :class:`bench.plan.Plan`
    """
    machine = {
        'processor': _find(r'^model name\s*: (.+)$', '/proc/cpuinfo'),
        'cpus': len(os.sched_getaffinity(0)),
        'memory': _find(r'^MemTotal: +(.+)$', '/proc/meminfo'),
        'system': platform.platform(),
        'wrk': _version(child.find('wrk'), '-v'),
    }
    account = plan.against
    if account:
        return {
            'version': f'API {client.version(account)} at {account.url}',
            'token_caching': None,
            'machine': machine,
        }
    venv = environment.Environment(plan.pin.release, 'run').ensure()
    programs = {
        'python': venv.python,
        'uwsgi': venv.bin / 'uwsgi',
        **{name: databases.ALL[name].program() for name in plan.databases},
        'memcached': child.find('memcached'),
    }
    for name, program in programs.items():
        machine[name] = _version(program, '--version')
    return {
        'release': plan.pin.release,
        'version': plan.pin.local_version,
        'token_caching': plan.caching,
        'machine': machine,
    }


def _find(pattern, path):
    match = re.search(pattern, pathlib.Path(path).read_text(), re.M)
    return match[1] if match else 'unknown'


def _version(program, option):
    process = child.finish([program, option])
    match = re.search(r'\d+\.\d[\w.-]*', process.stdout + process.stderr)
    if not match:
        raise errors.Error(f'{program} does not report its version')
    return match[0]
