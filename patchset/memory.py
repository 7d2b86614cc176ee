# SPDX-License-Identifier: Apache-2.0

"""Temporary files in memory.

Tests write many files that are read once or never, and take up to twice as
long if these are on a disk.
"""

import contextlib
import os
import pathlib
import shutil
import tempfile

from patchset import paths

FOLDER = pathlib.Path('/dev/shm')
PLENTY = 10 * 2**30  # bytes
_VARIABLE = 'TMPDIR'


@contextlib.contextmanager
def temporary():
    """Keep temporary files in memory during the block, if there is enough.

    This includes those of processes started in the block. If ``TMPDIR`` is
    set, temporary files are created there.
    """
    if _VARIABLE in os.environ or not _is_usable():
        yield
        return
    # Like /tmp: servers that root starts become other users.
    with paths.temporary(parent=FOLDER, mode=0o1777) as folder:
        os.environ[_VARIABLE] = tempfile.tempdir = str(folder)
        try:
            yield
        finally:
            del os.environ[_VARIABLE]
            tempfile.tempdir = None


def _is_usable():
    """Whether there is space and memory, and programs can be run there."""
    if not os.access(FOLDER, os.W_OK):
        return False
    if os.statvfs(FOLDER).f_flag & os.ST_NOEXEC:
        return False
    return min(shutil.disk_usage(FOLDER).free, available()) >= PLENTY


def available():
    """Available memory in bytes."""
    lines = pathlib.Path('/proc/meminfo').read_text().splitlines()
    found = dict(line.split(':') for line in lines)
    return 1024 * int(found['MemAvailable'].split()[0])
