# SPDX-License-Identifier: Apache-2.0

"""Running other programs: to their end, or beside this one."""

import contextlib
import os
import pathlib
import pwd
import re
import shutil
import signal
import subprocess
import time

from patchset import errors

# Variables that would configure uWSGI, Keystone or its clients behind our
# back, such as those of the cloud that the user's shell is set to.
_FOREIGN = ('OS_', 'UWSGI_')
# In a log, the end of a traceback, or a command's own complaint.
_REASON = re.compile(r'\b[\w.]*(?:Error|Exception|Conflict|NotFound)\b.*')
_PAUSE = 0.05  # seconds between two looks


def variables():
    """This process' own environment, without what is for a cloud: a dict."""
    return {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(_FOREIGN)
    }


def run(command, *, cwd=None, env=None, stdin='', what=None):
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


def finish(command, *, env=None, stdin='', **options):
    """Run a command to its end, however it ends.

    :param options: further ones of :func:`subprocess.run`; the others are
        those of :func:`run`
    :returns: a :class:`subprocess.CompletedProcess` with text
    :raises patchset.errors.NotInstalled: the command is missing
    """
    options = {
        'stdout': subprocess.PIPE, 'stderr': subprocess.PIPE, 'input': stdin,
        'text': True, 'errors': 'replace', **options,
    }  # fmt: skip
    words = [str(word) for word in command]
    try:
        return subprocess.run(
            words, env={**os.environ, **(env or {})}, **options
        )
    except FileNotFoundError:
        raise errors.NotInstalled(f'{words[0]} is not installed')


def find(name, *folders):
    """Path of a program, also where an ordinary user's PATH lacks it.

    :param folders: folders to look in before the usual ones
    :raises patchset.errors.NotInstalled: it is missing
    """
    usual = os.environ.get('PATH', os.defpath)
    every = map(str, [*folders, usual, '/usr/sbin', '/usr/local/sbin'])
    path = shutil.which(name, path=os.pathsep.join(every))
    if not path:
        raise errors.NotInstalled(f'{name} is not installed')
    return pathlib.Path(path)


class Process(subprocess.Popen):
    """A child of :func:`start`; the end of a ``with`` block stops it."""

    def __exit__(self, *error):
        stop(self)
        super().__exit__(*error)


def start(command, *, user=None, prefix=(), **options):
    """Start a program in a process group of its own: a :class:`Process`.

    A Ctrl-C in the terminal therefore reaches only this program, which
    then stops its children in order. The kernel ends the child when this
    program dies without doing so.

    :param user: name of the user to become; None stays the same
    :param prefix: words of a command that runs all this, still as this user
    :param options: further arguments of :class:`subprocess.Popen`
    """
    become = ['setpriv', '--pdeathsig=TERM']
    if user:
        group = pwd.getpwnam(user).pw_gid
        become += [f'--reuid={user}', f'--regid={group}', '--init-groups']
    words = [str(word) for word in [*prefix, *become, *command]]
    options.setdefault('stdin', subprocess.DEVNULL)
    return Process(words, start_new_session=True, **options)


def children(pid):
    """Process ids of the children of a process: a list."""
    path = pathlib.Path(f'/proc/{pid}/task/{pid}/children')
    return [int(word) for word in path.read_text().split()]


def stop(process, how=signal.SIGTERM, patience=20):
    """End a child of :func:`start` and whatever is left in its group.

    :param how: the signal that asks it to end
    :param patience: seconds to wait before it is killed
    """
    if process.poll() is None:
        _signal(process, how)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(patience)
    _signal(process, signal.SIGKILL)
    process.wait()


def _signal(process, number):
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, number)


def wait_until(is_reached, patience, late):
    """Wait until a condition holds.

    :param is_reached: callable, returns whether it holds
    :param patience: maximum time in seconds
    :param late: what the error says after that time, or a callable that
        returns the exception
    """
    deadline = time.monotonic() + patience
    while not is_reached():
        if time.monotonic() > deadline:
            raise late() if callable(late) else errors.Error(late)
        time.sleep(_PAUSE)


def last_words(path, start=0, telling=_REASON):
    """The line of a log that tells best why the program ended.

    :param start: size of the log before the program began
    :param telling: pattern of what such a line says
    """
    with open(path, 'rb') as log:
        log.seek(start)
        text = log.read().decode(errors='replace')
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    for line in reversed(lines):
        match = telling.search(line)
        if match:
            return match[0]
    return lines[-1] if lines else 'it said nothing'
