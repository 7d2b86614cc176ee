# SPDX-License-Identifier: Apache-2.0

"""Waiting for other programs."""

import time

PAUSE = 0.05  # seconds between two looks


def until(is_reached, patience, error):
    """Wait until a condition holds.

    :param is_reached: callable, returns whether it holds
    :param patience: maximum time in seconds
    :param error: callable, returns the exception to raise after that time
    """
    deadline = time.monotonic() + patience
    while not is_reached():
        if time.monotonic() > deadline:
            raise error()
        time.sleep(PAUSE)
