# SPDX-License-Identifier: Apache-2.0

"""One writer at a time of what is below the build folder."""

import contextlib
import fcntl

from patchset import progress


@contextlib.contextmanager
def exclusive(path):
    """Hold the lock of a file or folder, waiting for its holder if need be.

    The lock file stands beside it, so that all who share it agree.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    with open(path.parent / f'.{path.name}.lock', 'w') as handle:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            progress.step(f'waiting for another ./ks to create {path.name}')
            fcntl.flock(handle, fcntl.LOCK_EX)
        yield


def once(path, is_made, make, *arguments):
    """Make what appears whole or not at all; wait only while it is missing."""
    if not is_made():
        with exclusive(path):
            if not is_made():
                make(*arguments)
