# Licensed under the Apache License, Version 2.0 (the "License"); you may
# not use this file except in compliance with the License. You may obtain
# a copy of the License at
#
#      http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the
# License for the specific language governing permissions and limitations
# under the License.

"""Revokes tokens at a steady pace, as a process of its own.

On standard input, as one line of JSON: ``host``, ``port`` and ``path`` of
the resource, ``tls`` (whether it is reached so) and ``authority`` (a file of
certificates, or null for the system's), ``caller`` (a token), ``tokens``
(those to revoke), ``rate`` (per second) and ``seconds``. It answers ``ready``,
begins at the next line, and answers one JSON object: ``revoked`` and
``failed`` (numbers of requests), ``rate`` (revoked per second until the last
answer), ``p50`` and ``p99`` (of their time, in milliseconds), and ``cpu``, the
processor time that it used, in seconds for each second.

A request is sent when it is due, whether earlier ones were answered or not,
up to a limit: a server that cannot keep up is seen by the rate.
"""

import concurrent.futures
import http.client
import json
import ssl
import sys
import threading
import time

_UNDER_WAY = 32  # requests at most
_PATIENCE = 300  # seconds


class Revoker:
    """The tokens to revoke, and how it went."""

    def __init__(self, request):
        self._request = request
        self._tls = None
        if request['tls']:
            authority = request['authority']
            self._tls = ssl.create_default_context(cafile=authority)
        self._free = threading.Semaphore(_UNDER_WAY)
        self._lock = threading.Lock()
        self._times = []
        self._failed = 0

    def run(self):
        """Revoke; the answer as a dict."""
        rate, seconds = self._request['rate'], self._request['seconds']
        used = time.process_time()
        start = time.monotonic()
        with concurrent.futures.ThreadPoolExecutor(_UNDER_WAY) as pool:
            for number, token in enumerate(self._request['tokens']):
                due = start + number / rate
                if due - start >= seconds:
                    break
                time.sleep(max(0, due - time.monotonic()))
                self._free.acquire()
                if time.monotonic() - start >= seconds:
                    break
                pool.submit(self._one, token)
        took = max(time.monotonic() - start, seconds)
        times = sorted(self._times)
        return {
            'revoked': len(times),
            'failed': self._failed,
            'rate': len(times) / took,
            'p50': _at(times, 0.5),
            'p99': _at(times, 0.99),
            'cpu': (time.process_time() - used) / took,
        }

    def _one(self, token):
        try:
            start = time.monotonic()
            code = self._delete(token)
            took = 1000 * (time.monotonic() - start)
            with self._lock:
                if code == 204:
                    self._times.append(took)
                else:
                    self._failed += 1
        finally:
            self._free.release()

    def _delete(self, token):
        """Status of the answer; None if there was none."""
        where = self._request['host'], self._request['port']
        if self._tls:
            server = http.client.HTTPSConnection(
                *where, timeout=_PATIENCE, context=self._tls
            )
        else:
            server = http.client.HTTPConnection(*where, _PATIENCE)
        headers = {
            'X-Auth-Token': self._request['caller'],
            'X-Subject-Token': token,
        }
        try:
            server.request('DELETE', self._request['path'], headers=headers)
            return server.getresponse().status
        except (OSError, http.client.HTTPException):
            return None
        finally:
            server.close()


def _at(ranked, share):
    """The value at a share of a sorted list; None of an empty one."""
    if not ranked:
        return None
    return ranked[min(int(share * len(ranked)), len(ranked) - 1)]


def main():
    """Talk as the module says."""
    revoker = Revoker(json.loads(sys.stdin.readline()))
    print('ready', flush=True)
    if sys.stdin.readline():
        print(json.dumps(revoker.run()), flush=True)


if __name__ == '__main__':
    main()
