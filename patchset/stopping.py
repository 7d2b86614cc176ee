# SPDX-License-Identifier: Apache-2.0

"""Ends a command in order when a signal asks for it."""

import contextlib
import signal
import sys

from patchset import progress


def in_order():
    """On a signal, unwind once: servers and temporary files go first."""
    signals = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)

    def stop(number, _):
        for one in signals:
            signal.signal(one, signal.SIG_IGN)
        if number == signal.SIGINT:
            raise KeyboardInterrupt
        sys.exit(128 + number)

    for one in signals:
        if signal.getsignal(one) != signal.SIG_IGN:
            signal.signal(one, stop)


@contextlib.contextmanager
def by_signal():
    """A block that runs until a signal ends it, which is no failure."""
    try:
        yield
    except (KeyboardInterrupt, SystemExit):
        progress.step('stopping')
