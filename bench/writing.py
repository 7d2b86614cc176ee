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
    answer = {}
    writer = _Writer(lambda: write(keystone))
    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        running = pool.submit(writer.run, seconds, rate)
        try:
            yield answer
            answer.update(running.result())
        finally:
            writer.end.set()
    if writer.failed:
        raise errors.Error(
            f'{len(writer.failed)} rounds of writes failed, the first one '
            f'with {writer.failed[0]}'
        )


class _Writer:
    """The rounds, and how they went."""

    def __init__(self, write):
        self._write = write
        self._times = []  # microseconds
        self.failed = []
        #: tells it to end early
        self.end = threading.Event()

    def run(self, seconds, rate):
        """Write; what :func:`writing` answers."""
        used, start = time.process_time(), time.monotonic()
        if rate:
            self._steadily(start, seconds, rate)
        else:
            while time.monotonic() - start < seconds and not self.end.is_set():
                self._round()
        took = time.monotonic() - start
        if rate:
            took = max(took, seconds)
        done = len(self._times)
        found = load.Answers(done / took, collections.Counter(self._times))
        return {
            'done': done,
            'rate': found.rate,
            'p50': found.percentile(50) if done else None,
            'p99': found.percentile(99) if done else None,
            'cpu': (time.process_time() - used) / took,
        }

    def _steadily(self, start, seconds, rate):
        free = threading.Semaphore(_UNDER_WAY)
        with concurrent.futures.ThreadPoolExecutor(_UNDER_WAY) as pool:
            for number in range(round(rate * seconds)):
                due = start + (number + 0.5) / rate
                self.end.wait(max(0, due - time.monotonic()))
                free.acquire()
                if self.end.is_set() or time.monotonic() - start >= seconds:
                    break
                pool.submit(self._round).add_done_callback(
                    lambda _: free.release()
                )

    def _round(self):
        start = time.monotonic()
        try:
            self._write()
            self._times.append(round(1_000_000 * (time.monotonic() - start)))
        except errors.Error as error:
            self.failed.append(str(error))
