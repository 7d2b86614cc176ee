# SPDX-License-Identifier: Apache-2.0

"""What a command says while it works."""

import contextlib
import sys
import threading
import time
import types

SILENCE = 15  # seconds without a word, after which a command says what it does
_START = time.monotonic()


# What goes on, innermost last, and when something was printed.
_ACTIVITY = types.SimpleNamespace(names=[], printed=_START)


def say(message):
    """Print one line of result on standard output, at once."""
    _ACTIVITY.printed = time.monotonic()
    print(message, flush=True)


def step(message):
    """Print one line of progress, with the seconds since the start."""
    _ACTIVITY.printed = time.monotonic()
    seconds = _ACTIVITY.printed - _START
    print(f'[{seconds:5.0f}s] {message}', file=sys.stderr, flush=True)


@contextlib.contextmanager
def doing(what):
    """Tell :func:`no_silence` what goes on.

    :param what: text, or a function without arguments that returns it
    """
    _ACTIVITY.names.append(what)
    try:
        yield
    finally:
        _ACTIVITY.names.pop()


@contextlib.contextmanager
def stage(message):
    """Print a line of progress, and repeat it while the stage lasts."""
    step(message)
    with doing(message):
        yield


@contextlib.contextmanager
def no_silence():
    """Say what goes on each time nothing was printed for ``SILENCE``."""
    over = threading.Event()

    def watch():
        pause = SILENCE
        while not over.wait(pause):
            pause = _ACTIVITY.printed + SILENCE - time.monotonic()
            if pause <= 0:
                what = (_ACTIVITY.names or ['working'])[-1]
                step(what() if callable(what) else what)
                pause = SILENCE

    thread = threading.Thread(target=watch, daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()
