# Licensed under the Apache License, Version 2.0 (the "License"); you may
# not use this file except in compliance with the License. You may obtain
# a copy of the License at
#
#      http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the
# License for the specific language governing permissions and limitations
# under the License.

"""Load with and without revocations beside it."""

import contextlib
import json
import os
import subprocess
import sys
import urllib.parse

from bench import client
from bench import load
from patchset import child
from patchset import errors
from patchset import paths

CLIENTS = 20


def validators(side):
    """Headers for each of the clients, all with tokens of their own."""
    tokens = client.tokens(side.keystone, CLIENTS)
    return [client.headers(token) for token in tokens]


def validate(side, headers, rate, seconds):
    """Validate tokens while others are revoked at a steady pace.

    :param side: a :class:`bench.rig.Side`
    :param headers: what :func:`validators` gave
    :param rate: revocations per second; 0 is none
    :returns: a :class:`bench.load.Measure`, and what the
        :mod:`bench.revoker` answered, or None
    :raises patchset.errors.Error: a validation or a revocation failed
    """
    if not rate:
        return load.together(side.url, headers, seconds), None
    caller, *doomed = client.tokens(side.keystone, 1 + rate * seconds)
    with started(side, caller, doomed, rate, seconds) as revoker:
        result = begin(revoker)
        measure = load.together(side.url, headers, seconds)
        answer = result()
    if answer['failed']:
        raise errors.Error(f'{answer["failed"]} revocations failed')
    return measure, answer


@contextlib.contextmanager
def started(side, caller, doomed, rate, seconds):
    """A revoker that waits for the word to begin; it ends with the block."""
    where = urllib.parse.urlsplit(side.url)
    process = child.start(
        [sys.executable, '-P', '-m', 'bench.revoker'],
        env={**os.environ, 'PYTHONPATH': str(paths.ROOT)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        request = {
            'host': where.hostname,
            'port': where.port,
            'path': where.path,
            'tls': where.scheme == 'https',
            'authority': side.keystone.credentials.get('OS_CACERT') or None,
            'caller': caller,
            'tokens': doomed,
            'rate': rate,
            'seconds': seconds,
        }
        _say(process, json.dumps(request))
        if process.stdout.readline() != 'ready\n':
            raise errors.Error('the revoking process did not start')
        yield process
    finally:
        child.stop(process)
        process.stdin.close()
        process.stdout.close()


def begin(process):
    """Give a revoker the word; a function that waits for its answer."""
    _say(process, '')

    def result():
        line = process.stdout.readline()
        if not line:
            raise errors.Error('the revoking process ended early')
        return json.loads(line)

    return result


def _say(process, line):
    process.stdin.write(f'{line}\n')
    process.stdin.flush()
