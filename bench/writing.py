# SPDX-License-Identifier: Apache-2.0

"""Writes during a load: input and output of a writer process."""

import contextlib
import json
import os
import subprocess
import sys
import urllib.parse

from bench import client
from patchset import child
from patchset import errors
from patchset import paths

#: The answer of a writer that has nothing to write.
NONE = {'rate': 0, 'p50': None, 'p99': None, 'cpu': 0}


def step(method, path, caller=None, body=None, *, subject=None, **kept):
    """One request of a round, as :mod:`bench.writer` takes it.

    :param path: below ``/v3``; like all else it may have ``<name>`` in it
    :param caller: the token that asks
    :param body: what is sent as JSON
    :param subject: the token that it is about
    :param kept: what later requests name: a header, or a list of keys
    """
    given = {'X-Auth-Token': caller, 'X-Subject-Token': subject}
    headers = {name: value for name, value in given.items() if value}
    return [method, path, headers, body, kept]


def revoking(keystone, rate, seconds):
    """Revoke tokens, which are issued now, while the block runs.

    :param rate: revocations per second; 0 is none
    :returns: what :func:`writing` does
    """
    if not rate:
        return contextlib.nullcontext(dict(NONE))
    caller, *doomed = client.tokens(keystone, 1 + rate * seconds)
    steps = [step('DELETE', '/auth/tokens', caller, subject='<token>')]
    values = [{'token': token} for token in doomed]
    return writing(keystone, steps, seconds, rate, values)


@contextlib.contextmanager
def writing(keystone, steps, seconds, rate=None, values=None):
    """Write while the block runs a load that takes some seconds.

    :param keystone: anything that has ``url`` and ``credentials``
    :param steps: list of what :func:`step` gave, the requests of a round
    :param rate: rounds per second; None has one client begin the next round
        when the last one has ended
    :param values: for each round, what takes the place of names in the steps
    :returns: dict that has, after the block, what the writer answered
    :raises patchset.errors.Error: a round failed
    """
    answer = {}
    with started(keystone, steps, seconds, rate, values) as process:
        _say(process, '')
        yield answer
        line = process.stdout.readline()
        if not line:
            raise errors.Error('the writing process ended early')
        answer.update(json.loads(line))
    if answer['failed']:
        raise errors.Error(
            f'{answer["failed"]} rounds of writes failed, the first one '
            f'with {answer["why"][0]}'
        )


@contextlib.contextmanager
def started(keystone, steps, seconds, rate=None, values=None):
    """A writer that waits for the word to begin; it ends with the block."""
    where = urllib.parse.urlsplit(keystone.url)
    process = child.start(
        [sys.executable, '-P', '-m', 'bench.writer'],
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
            'authority': keystone.credentials.get('OS_CACERT') or None,
            'steps': steps,
            'values': values,
            'rate': rate,
            'seconds': seconds,
        }
        _say(process, json.dumps(request))
        if process.stdout.readline() != 'ready\n':
            raise errors.Error('the writing process did not start')
        yield process
    finally:
        child.stop(process)
        process.stdin.close()
        process.stdout.close()


def _say(process, line):
    process.stdin.write(f'{line}\n')
    process.stdin.flush()
