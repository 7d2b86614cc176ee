# SPDX-License-Identifier: Apache-2.0

"""Running other programs."""

import os
import subprocess

from patchset import errors


def run(command, *, cwd=None, env=None, log=None, stdin=None, what=None):
    """Run a command to its end and return its standard output as text.

    :param command: list of strings or paths
    :param env: variables to add to this process' own
    :param log: path of a file that receives all output instead
    :param stdin: text given on standard input
    :param what: what is being done, in words, for the error message
    :raises patchset.errors.Error: the command failed; the message ends with
        the last line that it printed
    :raises patchset.errors.NotInstalled: the command is missing
    """
    words = [str(word) for word in command]
    options = {
        'cwd': cwd,
        'env': {**os.environ, **(env or {})},
        'text': True,
        'errors': 'replace',
    }
    if stdin is None:
        options['stdin'] = subprocess.DEVNULL
    else:
        options['input'] = stdin
    try:
        if log:
            with open(log, 'a') as output:
                done = subprocess.run(
                    words, stdout=output, stderr=subprocess.STDOUT, **options
                )
        else:
            done = subprocess.run(words, capture_output=True, **options)
    except FileNotFoundError:
        raise errors.NotInstalled(f'{words[0]} is not installed')
    if done.returncode:
        raise errors.Error(_failure(words, done, log, what))
    return done.stdout or ''


def _failure(words, done, log, what):
    what = what or ' '.join(words[:3])
    if log:
        return f'{what} failed (exit {done.returncode}); see {log}'
    lines = (done.stderr or done.stdout or '').strip().splitlines()
    reason = lines[-1].strip() if lines else f'exit {done.returncode}'
    return f'{what} failed: {reason}'
