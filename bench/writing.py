# SPDX-License-Identifier: Apache-2.0

"""Writes during a load, in rounds, by threads of this program.

At a steady rate, a round starts when it is due, even if earlier ones have not
completed, up to a limit: the rate shows if a server cannot keep up. It is due
in the middle of its interval, so that all rounds of a low rate are within the
slice.
"""

import concurrent.futures
import contextlib
import json
import threading
import time
import uuid

from bench import client
from patchset import errors

#: The answer of a writer that has nothing to write.
NONE = {'rate': 0, 'p50': None, 'p99': None, 'cpu': 0}
_UNDER_WAY = 32  # rounds at most


def step(method, path, caller=None, body=None, *, subject=None, **kept):
    """One request of a round.

    :param path: below ``/v3``; like all else it may have ``<name>`` in it;
        ``<unique>`` is a different word in each round
    :param caller: the token that asks
    :param body: what is sent as JSON
    :param subject: the token that it is about
    :param kept: what later requests name: a header, or a list of keys
    """
    given = {'X-Auth-Token': caller, 'X-Subject-Token': subject}
    headers = {name: value for name, value in given.items() if value}
    return [method, path, headers, body, kept]


def revoking(keystone, rate, seconds):
    """Revoke tokens, which are issued now, while the block runs.

    :param rate: revocations per second; 0 is none
    :returns: what :func:`writing` does
    """
    if not rate:
        return contextlib.nullcontext(dict(NONE))
    caller, *doomed = client.tokens(keystone, 1 + rate * seconds)
    steps = [step('DELETE', '/auth/tokens', caller, subject='<token>')]
    values = [{'token': token} for token in doomed]
    return writing(keystone, steps, seconds, rate, values)


@contextlib.contextmanager
def writing(keystone, steps, seconds, rate=None, values=()):
    """Write while the block runs a load that takes some seconds.

    :param keystone: anything that has ``url`` and ``credentials``
    :param steps: list of what :func:`step` gave, the requests of a round
    :param rate: rounds per second; None has one client begin the next round
        when the last one has ended
    :param values: for each round, what takes the place of names in the steps
    :returns: dict that has, after the block, ``done`` (number of rounds),
        ``rate`` (of them per second until the last response), ``p50`` and
        ``p99`` (of their duration, in milliseconds), and ``cpu`` (CPU time of
        this program per second)
    :raises patchset.errors.Error: a round failed
    """
    answer = {}
    writer = _Writer(keystone, steps, values)
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

    def __init__(self, keystone, steps, values):
        self._keystone = keystone
        self._steps = [json.dumps(one) for one in steps]
        self._values = iter(values)
        self._lock = threading.Lock()
        self._times = []
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
        times = sorted(self._times)
        return {
            'done': len(times),
            'rate': len(times) / took,
            'p50': _at(times, 0.5),
            'p99': _at(times, 0.99),
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
        try:
            with self._lock:
                names = dict(next(self._values, {}), unique=uuid.uuid4().hex)
            start = time.monotonic()
            for text in self._steps:
                for name, value in names.items():
                    text = text.replace(f'<{name}>', value)
                names.update(self._send(*json.loads(text)))
            self._times.append(1000 * (time.monotonic() - start))
        except errors.Error as error:
            self.failed.append(str(error))

    def _send(self, method, path, headers, body, kept):
        """Send a request; {name: what later ones need of its answer}."""
        data = None if body is None else json.dumps(body).encode()
        answered, content = client.request(
            method, self._keystone, path, headers, data
        )
        return {
            name: _found(answered, content, where)
            for name, where in kept.items()
        }


def _found(headers, content, where):
    """A header by its name, or what a list of keys leads to."""
    if isinstance(where, str):
        return headers[where]
    found = json.loads(content)
    for key in where:
        found = found[key]
    return found


def _at(ranked, share):
    """The value at a share of a sorted list; None of an empty one."""
    if not ranked:
        return None
    return ranked[min(int(share * len(ranked)), len(ranked) - 1)]
