# SPDX-License-Identifier: Apache-2.0

"""Description of the machine, which the figures depend on."""

import os
import pathlib
import platform
import re
import subprocess

from bench import databases
from patchset import child
from patchset import errors


def describe(environment=None, used=()):
    """Hardware, system and versions of what took part.

    :param environment: the :class:`patchset.environment.Environment` that
        Keystone runs in; None if it runs elsewhere
    :param used: names of the databases, see :data:`bench.databases.ALL`
    :returns: dict of strings and numbers
    """
    found = {
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
            commands[name] = databases.ALL[name].version_command()
        commands['memcached'] = [child.find('memcached'), '--version']
    return found | {name: _version(one) for name, one in commands.items()}


def _find(pattern, path):
    found = re.search(pattern, pathlib.Path(path).read_text(), re.M)
    return found[1] if found else 'unknown'


def _version(command):
    words = [str(word) for word in command]
    done = subprocess.run(words, capture_output=True, text=True)
    found = re.search(r'\d+\.\d[\w.-]*', done.stdout + done.stderr)
    if not found:
        raise errors.Error(f'{words[0]} does not report its version')
    return found[0]
