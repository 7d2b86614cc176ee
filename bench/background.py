# SPDX-License-Identifier: Apache-2.0

"""Writes in the background of a load, in rounds, by threads of this program.

At a constant rate, a round starts when it is due, even if earlier ones have
not completed, up to a limit: the reached rate shows if a server cannot keep
up. It is due in the middle of its interval, so that all rounds of a low rate
are within the time slice.
"""

import collections
import concurrent.futures
import contextlib
import threading
import time

from bench import client
from bench import load
from patchset import errors

#: The result without any writes.
NO_WRITES = {'rate': 0, 'p50': None, 'p99': None, 'cpu': 0}
_CONCURRENT = 32  # maximum number of rounds


def revocations(keystone, rate, seconds):
    """Revoke tokens, which are issued before, while the block runs.

    :param rate: revocations per second; 0 is none
    :returns: as :func:`writes`
    """
    if not rate:
        return contextlib.nullcontext(dict(NO_WRITES))
    caller, *tokens = client.tokens(keystone, 1 + rate * seconds)
    return writes(
        lambda: client.revoke(keystone, caller, tokens.pop()), seconds, rate
    )


@contextlib.contextmanager
def writes(write, seconds, rate=None):
    """Write while the block runs a load that takes some seconds.

    :param write: function that sends the requests of a round
    :param rate: rounds per second; None starts each round at the end of the
        previous one
    :returns: dict that has, after the block, ``done`` (number of rounds),
        ``rate`` (of them per second until the last response), ``p50`` and
        ``p99`` (of their duration, in milliseconds), and ``cpu`` (CPU time of
        this program per second)
    :raises patchset.errors.Error: a round failed
    """
    result, times, failures = {}, [], []  # times in microseconds
    end = threading.Event()

    def run_round():
        start = time.monotonic()
        try:
            write()
            times.append(round(1_000_000 * (time.monotonic() - start)))
        except errors.Error as error:
            failures.append(str(error))

    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        future = pool.submit(_run, run_round, times, end, seconds, rate)
        try:
            yield result
            result.update(future.result())
        finally:
            end.set()
    if failures:
        raise errors.Error(
            f'{len(failures)} rounds of writes failed, the first one with '
            f'{failures[0]}'
        )


def _run(run_round, times, end, seconds, rate):
    """Run rounds, which add their times; returns the result of the writes."""
    cpu_start, start = time.process_time(), time.monotonic()

    def is_over():
        return end.is_set() or time.monotonic() - start >= seconds

    if rate:
        with concurrent.futures.ThreadPoolExecutor(_CONCURRENT) as pool:
            for number in range(round(rate * seconds)):
                due = start + (number + 0.5) / rate
                end.wait(max(0, due - time.monotonic()))
                pool.submit(lambda: is_over() or run_round())
    else:
        while not is_over():
            run_round()
    elapsed = time.monotonic() - start
    if rate:
        elapsed = max(elapsed, seconds)
    answers = load.Answers(len(times) / elapsed, collections.Counter(times))
    return {
        'done': answers.requests,
        'rate': answers.rate,
        'p50': answers.percentile(50) if times else None,
        'p99': answers.percentile(99) if times else None,
        'cpu': (time.process_time() - cpu_start) / elapsed,
    }
