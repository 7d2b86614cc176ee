# SPDX-License-Identifier: Apache-2.0

"""Writes during a load, in rounds, by threads of this program.

At a steady rate, a round starts when it is due, even if earlier ones have not
completed, up to a limit: the rate shows if a server cannot keep up. It is due
in the middle of its interval, so that all rounds of a low rate are within the
slice.
"""

import collections
import concurrent.futures
import contextlib
import threading
import time

from bench import client
from bench import load
from patchset import errors

#: The answer of a writer that has nothing to write.
NONE = {'rate': 0, 'p50': None, 'p99': None, 'cpu': 0}
_UNDER_WAY = 32  # rounds at most


def revoking(keystone, rate, seconds):
    """Revoke tokens, which are issued now, while the block runs.

    :param rate: revocations per second; 0 is none
    :returns: what :func:`writing` does
    """
    if not rate:
        return contextlib.nullcontext(dict(NONE))
    caller, *doomed = client.tokens(keystone, 1 + rate * seconds)

    def write(keystone):
        client.revoke(keystone, caller, doomed.pop())

    return writing(keystone, write, seconds, rate)


@contextlib.contextmanager
def writing(keystone, write, seconds, rate=None):
    """Write while the block runs a load that takes some seconds.

    :param keystone: anything that has ``url`` and ``credentials``
    :param write: function of it, the requests of a round
    :param rate: rounds per second; None has one client begin the next round
        when the last one has ended
    :returns: dict that has, after the block, ``done`` (number of rounds),
        ``rate`` (of them per second until the last response), ``p50`` and
        ``p99`` (of their duration, in milliseconds), and ``cpu`` (CPU time of
        this program per second)
    :raises patchset.errors.Error: a round failed
    """
    answer, times, failed = {}, [], []  # microseconds, and why
    end = threading.Event()

    def one():
        start = time.monotonic()
        try:
            write(keystone)
            times.append(round(1_000_000 * (time.monotonic() - start)))
        except errors.Error as error:
            failed.append(str(error))

    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        running = pool.submit(_run, one, times, end, seconds, rate)
        try:
            yield answer
            answer.update(running.result())
        finally:
            end.set()
    if failed:
        raise errors.Error(
            f'{len(failed)} rounds of writes failed, the first one with '
            f'{failed[0]}'
        )


def _run(one, times, end, seconds, rate):
    """Run rounds, which note their times; what :func:`writing` answers."""
    used, start = time.process_time(), time.monotonic()
    if rate:
        _run_steadily(one, end, start, seconds, rate)
    else:
        while time.monotonic() - start < seconds and not end.is_set():
            one()
    took = time.monotonic() - start
    if rate:
        took = max(took, seconds)
    found = load.Answers(len(times) / took, collections.Counter(times))
    return {
        'done': found.requests,
        'rate': found.rate,
        'p50': found.percentile(50) if times else None,
        'p99': found.percentile(99) if times else None,
        'cpu': (time.process_time() - used) / took,
    }


def _run_steadily(one, end, start, seconds, rate):
    free = threading.Semaphore(_UNDER_WAY)
    with concurrent.futures.ThreadPoolExecutor(_UNDER_WAY) as pool:
        for number in range(round(rate * seconds)):
            due = start + (number + 0.5) / rate
            end.wait(max(0, due - time.monotonic()))
            free.acquire()
            if end.is_set() or time.monotonic() - start >= seconds:
                break
            pool.submit(one).add_done_callback(lambda _: free.release())
