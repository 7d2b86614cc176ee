# SPDX-License-Identifier: Apache-2.0

"""System packages: which are missing, and installing them as root."""

import functools
import os
import shutil
import sys

from patchset import child
from patchset import errors
from patchset import locking
from patchset import paths
from patchset import progress

_PATIENCE = 300  # seconds to wait until another program has installed packages


def missing(*profiles):
    """Names of the packages of bindep profiles that are not installed.

    Empty where bindep knows no package manager of this system.
    """
    file = paths.ROOT / 'bindep.txt'
    done = child.finish(
        [sys.executable, '-m', 'bindep', '-b', '-f', file, *profiles]
    )
    if done.returncode not in (0, 1) or done.stderr.strip():
        raise errors.Error(f'bindep failed: {done.stderr.strip()[-200:]}')
    return done.stdout.split()


@functools.cache  # bindep takes its second or two
def ensure(*profiles):
    """Install what some profiles miss, as :func:`install` does."""
    install(missing(*profiles))


def install(names):
    """Install packages, as root; say so otherwise.

    :raises patchset.errors.NotInstalled: this user cannot install them
    :raises patchset.errors.Error: installing them failed
    """
    if not names:
        return
    words = ' '.join(names)
    if os.geteuid() != 0 or not shutil.which('apt-get'):
        raise errors.NotInstalled(
            f'missing system packages; install them with: '
            f'sudo apt-get install {words}'
        )
    quiet = {'DEBIAN_FRONTEND': 'noninteractive'}
    with (
        progress.stage(f'installing system packages: {words}'),
        # apt-get does not wait for another one that updates its lists.
        locking.exclusive(paths.BUILD / 'packages'),
    ):
        child.run(['apt-get', 'update', '-q'], env=quiet)
        child.run(
            [
                'apt-get', 'install', '-q', '-y', '--no-install-recommends',
                # For other programs, such as unattended upgrades.
                '-o', f'DPkg::Lock::Timeout={_PATIENCE}', *names,
            ],
            env=quiet,
            what=f'installing {words}',
        )  # fmt: skip
