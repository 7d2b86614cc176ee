# SPDX-License-Identifier: Apache-2.0

"""Running other programs."""

import os
import subprocess

from patchset import errors

# Variables that would configure uWSGI, Keystone or its clients behind our
# back, such as those of the cloud that the user's shell is set to.
_FOREIGN = ('OS_', 'UWSGI_')


def variables():
    """This process' own environment, without what is for a cloud: a dict."""
    return {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(_FOREIGN)
    }


def run(command, *, cwd=None, env=None, stdin=None, what=None):
    """Run a command to its end and return its standard output as text.

    :param command: list of strings or paths
    :param env: variables to add to this process' own
    :param stdin: text given on standard input
    :param what: what is being done, in words, for the error message
    :raises patchset.errors.Error: the command failed; the message ends with
        the last line that it printed
    :raises patchset.errors.NotInstalled: the command is missing
    """
    done = finish(command, cwd=cwd, env=env, stdin=stdin)
    if done.returncode:
        what = what or ' '.join(done.args[:3])
        lines = (done.stderr or done.stdout).strip().splitlines()
        reason = lines[-1].strip() if lines else f'exit {done.returncode}'
        raise errors.Error(f'{what} failed: {reason}')
    return done.stdout


def finish(command, *, env=None, stdin=None, **options):
    """Run a command to its end, however it ends.

    :param options: further ones of :func:`subprocess.run`; the others are
        those of :func:`run`
    :returns: a :class:`subprocess.CompletedProcess` with text
    :raises patchset.errors.NotInstalled: the command is missing
    """
    source = {'stdin': subprocess.DEVNULL} if stdin is None else {}
    options = {
        'stdout': subprocess.PIPE, 'stderr': subprocess.PIPE, 'text': True,
        'errors': 'replace', 'input': stdin, **source, **options,
    }  # fmt: skip
    words = [str(word) for word in command]
    try:
        return subprocess.run(
            words, env={**os.environ, **(env or {})}, **options
        )
    except FileNotFoundError:
        raise errors.NotInstalled(f'{words[0]} is not installed')
