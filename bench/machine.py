# SPDX-License-Identifier: Apache-2.0

"""Description of the machine and the programs."""

import os
import pathlib
import platform
import re

from bench import databases
from patchset import child
from patchset import errors


def describe(environment=None, used=()):
    """Hardware, system and versions of the programs.

    :param environment: the :class:`patchset.environment.Environment` of
        Keystone; None for an existing Keystone
    :param used: names of the databases, see :data:`bench.databases.ALL`
    :returns: dict of strings and numbers
    """
    description = {
        'processor': _find(r'^model name\s*: (.+)$', '/proc/cpuinfo'),
        'cpus': len(os.sched_getaffinity(0)),
        'memory': _find(r'^MemTotal: +(.+)$', '/proc/meminfo'),
        'system': platform.platform(),
    }
    commands = {'wrk': [child.find('wrk'), '-v']}
    if environment:
        commands['python'] = [environment.python, '--version']
        commands['uwsgi'] = [environment.bin / 'uwsgi', '--version']
        for name in used:
            commands[name] = [databases.ALL[name].program(), '--version']
        commands['memcached'] = [child.find('memcached'), '--version']
    versions = {name: _version(words) for name, words in commands.items()}
    return description | versions


def _find(pattern, path):
    match = re.search(pattern, pathlib.Path(path).read_text(), re.M)
    return match[1] if match else 'unknown'


def _version(command):
    process = child.finish(command)
    match = re.search(r'\d+\.\d[\w.-]*', process.stdout + process.stderr)
    if not match:
        raise errors.Error(f'{command[0]} does not report its version')
    return match[0]
