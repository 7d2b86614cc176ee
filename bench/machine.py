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


def load_maker():
    """Hardware, system and version of what makes the load.

    :returns: dict of strings and numbers
    """
    return {
        'processor': _find(r'^model name\s*: (.+)$', '/proc/cpuinfo'),
        'cpus': len(os.sched_getaffinity(0)),
        'memory': _find(r'^MemTotal: +(.+)$', '/proc/meminfo'),
        'system': platform.platform(),
        'wrk': _version([child.find('wrk'), '-v']),
    }


def describe(environment, used):
    """Hardware, system and versions of what took part.

    :param environment: the :class:`patchset.environment.Environment` that
        Keystone runs in
    :param used: names of the databases, see :data:`bench.databases.ALL`
    :returns: dict of strings and numbers
    """
    return {
        **load_maker(),
        'python': _version([environment.python, '--version']),
        'uwsgi': _version([environment.bin / 'uwsgi', '--version']),
        **{
            name: _version(databases.ALL[name].version_command())
            for name in used
        },
        'memcached': _version([child.find('memcached'), '--version']),
    }


def load_average():
    """Processes that wanted to run in the last minute, on average."""
    return os.getloadavg()[0]


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
