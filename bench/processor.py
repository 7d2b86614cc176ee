# SPDX-License-Identifier: Apache-2.0

"""CPU time used by a Keystone."""

import os
import pathlib

from patchset import child

_TICK = 1 / os.sysconf('SC_CLK_TCK')  # seconds


def of_workers(keystone) -> float:
    """Processor seconds that the running processes have used so far.

    :param keystone: a :class:`patchset.deployment.Deployment`, running
    """
    return sum(
        used(pathlib.Path(f'/proc/{pid}/stat').read_text())
        for pid in child.children(keystone.pid)
    )


def used(text: str) -> float:
    """Processor seconds of a process, its own and the kernel's for it.

    :param text: what its ``stat`` says, see proc_pid_stat(5)
    """
    # The second field is the program's name, which may have anything in it.
    fields = text.rpartition(')')[2].split()
    return (int(fields[11]) + int(fields[12])) * _TICK
