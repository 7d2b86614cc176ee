# SPDX-License-Identifier: Apache-2.0

"""Ends a command in order when a signal asks for it."""

import contextlib
import signal
import sys
import threading

from patchset import progress

_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class _Deferral:
    """How many blocks must not be interrupted, and the signal that was to."""

    blocks = 0
    signal = None


def in_order():
    """On a signal, unwind once: servers and temporary files go first."""

    def stop(number, _):
        for one in _SIGNALS:
            signal.signal(one, signal.SIG_IGN)
        if _Deferral.blocks:
            _Deferral.signal = number
        else:
            _end(number)

    for one in _SIGNALS:
        if signal.getsignal(one) != signal.SIG_IGN:
            signal.signal(one, stop)


@contextlib.contextmanager
def deferred():
    """A block that no signal interrupts; the command ends after it.

    For what has to be known before it can be undone, such as a new process.
    """
    if threading.current_thread() is not threading.main_thread():
        yield  # signals interrupt the main thread only
        return
    _Deferral.blocks += 1
    try:
        yield
    finally:
        _Deferral.blocks -= 1
        if _Deferral.signal and not _Deferral.blocks:
            number, _Deferral.signal = _Deferral.signal, None
            _end(number)


def _end(number):
    if number == signal.SIGINT:
        raise KeyboardInterrupt
    sys.exit(128 + number)


@contextlib.contextmanager
def by_signal():
    """A block that runs until a signal ends it, which is no failure."""
    try:
        yield
    except (KeyboardInterrupt, SystemExit):
        progress.step('stopping')
