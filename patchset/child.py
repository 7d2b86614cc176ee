# SPDX-License-Identifier: Apache-2.0

"""Programs that run beside this one and never outlive it."""

import os
import pathlib
import pwd
import shutil
import signal
import subprocess

from patchset import errors


def find(name, *folders):
    """Path of a program, also where an ordinary user's PATH lacks it.

    :param folders: folders to look in before the usual ones
    :raises patchset.errors.NotInstalled: it is missing
    """
    usual = os.environ.get('PATH', os.defpath).split(os.pathsep)
    for folder in [*folders, *usual, '/usr/sbin', '/usr/local/sbin']:
        path = shutil.which(name, path=str(folder))
        if path:
            return pathlib.Path(path)
    raise errors.NotInstalled(f'{name} is not installed')


def start(command, *, user=None, prefix=(), **options):
    """Start a program in a process group of its own.

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
    return subprocess.Popen(words, start_new_session=True, **options)


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
        try:
            process.wait(patience)
        except subprocess.TimeoutExpired:
            pass
    _signal(process, signal.SIGKILL)
    process.wait()


def _signal(process, number):
    try:
        os.killpg(process.pid, number)
    except ProcessLookupError:
        pass
