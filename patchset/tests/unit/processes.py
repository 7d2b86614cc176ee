# SPDX-License-Identifier: Apache-2.0

"""Waiting for what other processes do."""

import pathlib
import time

_DEADLINE = 20  # seconds


def until(condition):
    """Wait until a condition holds; whether it does in time."""
    end = time.monotonic() + _DEADLINE
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(0.02)
    return True


def ends(pid):
    """Wait for the end of any process; whether it ends in time.

    A zombie has ended, too.
    """
    return until(lambda: _ended(pid))


def _ended(pid):
    try:
        stat = pathlib.Path(f'/proc/{pid}/stat').read_text()
    except FileNotFoundError:
        return True
    return stat.rpartition(')')[2].split()[0] == 'Z'
