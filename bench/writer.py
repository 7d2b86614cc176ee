# SPDX-License-Identifier: Apache-2.0

"""Writes at a steady rate, as a separate process.

The first line on standard input is JSON: ``host``, ``port`` and ``path`` of
the API, ``tls`` (whether to use TLS) and ``authority`` (a file with
certificates, or null for those of the system), ``steps`` (the requests of a
round), ``values`` (for each round, the replacements of ``<name>`` in them),
``rate`` (rounds per second, or null for one after the other) and ``seconds``.
A step is [method, path, headers, body, kept]; the last item defines names for
later steps: {name: name of a header, or list of keys in the JSON response}.
``<unique>`` is a different word in each round.

The response is ``ready``. The writes start at the next line. At the end, the
output is a JSON object: ``done`` and ``failed`` (numbers of rounds), ``rate``
(rounds per second until the last response), ``p50`` and ``p99`` (of their
duration, in milliseconds), and ``cpu`` (CPU time used per second).

A round starts when it is due, even if earlier ones have not completed, up to a
limit: the rate shows if a server cannot keep up. It is due in the middle of
its interval, so that all rounds of a low rate are within the slice.
"""

import concurrent.futures
import http.client
import json
import ssl
import sys
import threading
import time
import uuid

_UNDER_WAY = 32  # rounds at most
_PATIENCE = 300  # seconds


class Refused(Exception):
    """A request of a round was not answered with success."""


class Writer:
    """The rounds, and how they went."""

    def __init__(self, request):
        self._request = request
        self._tls = None
        if request['tls']:
            authority = request['authority']
            self._tls = ssl.create_default_context(cafile=authority)
        self._steps = [json.dumps(step) for step in request['steps']]
        self._values = iter(request['values'] or ())
        self._lock = threading.Lock()
        self._times = []
        self._failed = []

    def run(self):
        """Write; the answer as a dict."""
        used, start = time.process_time(), time.monotonic()
        if self._request['rate']:
            self._steadily(start, self._request['rate'])
        else:
            while time.monotonic() - start < self._request['seconds']:
                self._round()
        took = time.monotonic() - start
        if self._request['rate']:
            took = max(took, self._request['seconds'])
        times = sorted(self._times)
        return {
            'done': len(times),
            'failed': len(self._failed),
            'why': self._failed[:1],
            'rate': len(times) / took,
            'p50': _at(times, 0.5),
            'p99': _at(times, 0.99),
            'cpu': (time.process_time() - used) / took,
        }

    def _steadily(self, start, rate):
        seconds = self._request['seconds']
        free = threading.Semaphore(_UNDER_WAY)
        with concurrent.futures.ThreadPoolExecutor(_UNDER_WAY) as pool:
            for number in range(round(rate * seconds)):
                due = start + (number + 0.5) / rate
                time.sleep(max(0, due - time.monotonic()))
                free.acquire()
                if time.monotonic() - start >= seconds:
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
            took = 1000 * (time.monotonic() - start)
            with self._lock:
                self._times.append(took)
        except (Refused, OSError, http.client.HTTPException) as error:
            with self._lock:
                self._failed.append(str(error))

    def _send(self, method, path, headers, body, kept):
        """Send a request; {name: what later ones need of its answer}."""
        where = self._request['host'], self._request['port']
        if self._tls:
            server = http.client.HTTPSConnection(
                *where, timeout=_PATIENCE, context=self._tls
            )
        else:
            server = http.client.HTTPConnection(*where, _PATIENCE)
        data = None
        if body is not None:
            data = json.dumps(body)
            headers = {**headers, 'Content-Type': 'application/json'}
        try:
            path = self._request['path'] + path
            server.request(method, path, data, headers)
            answer = server.getresponse()
            content = answer.read()
        finally:
            server.close()
        if not 200 <= answer.status < 300:
            raise Refused(f'{method} {path}: {answer.status}')
        return {
            name: _found(answer.headers, content, where)
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


def main():
    """Talk as the module says."""
    writer = Writer(json.loads(sys.stdin.readline()))
    print('ready', flush=True)
    if sys.stdin.readline():
        print(json.dumps(writer.run()), flush=True)


if __name__ == '__main__':
    main()
