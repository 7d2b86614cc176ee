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

"""Tests of the measurements' load, on a server that only counts."""

import collections
import http.server
import os
import pathlib
import signal
import subprocess
import sys
import threading
import time
import types

import testtools

from bench import load
from bench import revoking
from bench import turns
from patchset import errors
from patchset import paths
from patchset.tests import processes

_LOAD = """
import sys
from bench import load
from patchset import stopping

stopping.in_order()
load.together(sys.argv[1], [{'X-Number': str(one)} for one in range(3)], 300)
"""


class Handler(http.server.BaseHTTPRequestHandler):
    """Answers as the server's ``codes`` say, and notes what it was asked."""

    def do_GET(self):
        self.answer(200)

    def do_POST(self):
        length = int(self.headers['Content-Length'])
        body = self.rfile.read(length), self.headers['Content-Type']
        with self.server.lock:
            self.server.bodies[body] += 1
        self.answer(200)

    def do_DELETE(self):
        self.answer(204)

    def answer(self, usual):
        asked = (self.command, self.headers['X-Subject-Token'])
        with self.server.lock:
            self.server.asked[asked] += 1
        if self.server.gate:
            self.server.gate.wait()
        self.send_response(self.server.codes.get(asked, usual))
        self.send_header('Content-Length', '0')
        self.end_headers()

    def setup(self):
        super().setup()
        with self.server.lock:
            self.server.connections += 1

    def log_message(self, *_):
        """Say nothing."""


class ServerTestCase(testtools.TestCase):
    def setUp(self):
        super().setUp()
        self.server = http.server.ThreadingHTTPServer(
            ('127.0.0.1', 0), Handler
        )
        self.server.asked = collections.Counter()
        self.server.bodies = collections.Counter()
        self.server.codes = {}
        self.server.gate = None
        self.server.connections = 0
        self.server.lock = threading.Lock()
        self.url = f'http://127.0.0.1:{self.server.server_port}/v3/auth/tokens'
        thread = threading.Thread(target=self.server.serve_forever)
        thread.start()
        self.addCleanup(self.server.server_close)
        self.addCleanup(thread.join)
        self.addCleanup(self.server.shutdown)


class LoadTestCase(ServerTestCase):
    def test_as_many_as_asked_of_each(self):
        headers = [{'X-Subject-Token': name} for name in 'ab']
        measure = load.each(self.url, headers, 3)
        self.assertEqual(6, measure.requests)
        self.assertEqual({('GET', 'a'): 3, ('GET', 'b'): 3}, self.server.asked)

    def test_clients_do_not_wait_for_each_other(self):
        # None is answered before all have asked.
        self.server.gate = threading.Barrier(4, timeout=60)
        measure = load.each(self.url, [{}] * 4, 1)
        self.assertEqual(4, measure.requests)
        self.assertEqual(4, self.server.connections)

    def test_each_client_has_its_own_token(self):
        headers = [{'X-Subject-Token': name} for name in 'abc']
        measure = load.together(self.url, headers, 1)
        self.assertEqual(
            {('GET', name) for name in 'abc'}, set(self.server.asked)
        )
        # Those under way at the end were asked and not counted.
        self.assertLessEqual(measure.requests, self.server.asked.total())
        self.assertGreaterEqual(measure.requests, 3)
        self.assertLessEqual(measure.p50, measure.p99)

    def test_each_client_sends_its_own_body(self):
        headers = {'X-Subject-Token': 'a'}
        load.post(self.url, headers, [b'1', b'[2]'], 1)
        self.assertEqual({('POST', 'a')}, set(self.server.asked))
        self.assertEqual(
            {(body, 'application/json') for body in (b'1', b'[2]')},
            set(self.server.bodies),
        )

    def test_a_number_of_requests(self):
        headers = {'X-Subject-Token': 'a'}
        measure = load.number(self.url, headers, 12, 3)
        self.assertEqual(12, measure.requests)
        self.assertEqual({('GET', 'a'): 12}, self.server.asked)

    def test_a_number_of_requests_with_a_body(self):
        self.assertEqual(5, load.number(self.url, {}, 5, 2, b'[1]').requests)
        self.assertEqual({(b'[1]', 'application/json'): 5}, self.server.bodies)

    def test_one_refused_client_is_no_result(self):
        self.server.codes['GET', 'b'] = 404
        headers = [{'X-Subject-Token': name} for name in 'abc']
        self.assertRaises(errors.Error, load.together, self.url, headers, 1)

    def test_nobody_answers(self):
        error = self.assertRaises(
            errors.Error, load.get, 'http://127.0.0.1:1/', {}, 1, 1
        )
        self.assertIn('ab failed: ', str(error))

    def test_ctrl_c_ends_the_clients(self):
        with subprocess.Popen(
            [sys.executable, '-c', _LOAD, self.url],
            env={**os.environ, 'PYTHONPATH': str(paths.ROOT)},
            stderr=subprocess.DEVNULL,
            # A shell that runs this in the background ignores Ctrl-C.
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
        ) as program:
            while not self.server.asked:
                self.assertIsNone(program.poll())
                time.sleep(0.02)
            tasks = pathlib.Path(f'/proc/{program.pid}/task/{program.pid}')
            clients = (tasks / 'children').read_text().split()
            self.assertNotEqual([], clients)
            program.send_signal(signal.SIGINT)
        for client in clients:
            # By the kernel, if it was just being started.
            self.assertTrue(processes.ends(client))


class TurnsTestCase(ServerTestCase):
    def test_tokens_take_turns(self):
        measure = turns.validate(self.url, 'caller', list('abc'), 1, 2)
        asked = self.server.asked
        # The caller asks about itself as well.
        self.assertEqual(
            {('GET', name) for name in ('caller', *'abc')}, set(asked)
        )
        self.assertLessEqual(max(asked.values()) - min(asked.values()), 2)
        self.assertLessEqual(measure.requests, asked.total())
        self.assertLessEqual(measure.p50, measure.p99)

    def test_one_refused_token_is_no_result(self):
        self.server.codes['GET', 'b'] = 404
        error = self.assertRaises(
            errors.Error, turns.validate, self.url, 'c', list('abc'), 1, 2
        )
        self.assertIn('were refused', str(error))

    def test_nobody_answers(self):
        error = self.assertRaises(
            errors.Error, turns.validate, 'http://127.0.0.1:1/', 'c', ['a'],
            1, 1,
        )  # fmt: skip
        self.assertIn('wrk failed: ', str(error))


class RevokerTestCase(ServerTestCase):
    def side(self):
        account = types.SimpleNamespace(credentials={})
        return types.SimpleNamespace(url=self.url, keystone=account)

    def revoke(self, doomed, rate=100):
        with revoking.started(self.side(), 'me', doomed, rate, 1) as process:
            self.assertEqual({}, self.server.asked)
            return revoking.begin(process)()

    def test_each_token_once(self):
        doomed = [f'token{number}' for number in range(20)]
        answer = self.revoke(doomed)
        self.assertEqual(
            {('DELETE', token): 1 for token in doomed}, self.server.asked
        )
        self.assertEqual((20, 0), (answer['revoked'], answer['failed']))
        self.assertLessEqual(answer['rate'], 20)
        self.assertLessEqual(answer['p50'], answer['p99'])

    def test_refusals_are_told(self):
        self.server.codes['DELETE', 'b'] = 404
        answer = self.revoke(['a', 'b', 'c'])
        self.assertEqual((2, 1), (answer['revoked'], answer['failed']))

    def test_nothing_after_its_time(self):
        # The second would be due after two seconds.
        answer = self.revoke(['a', 'b'], rate=0.5)
        self.assertEqual({('DELETE', 'a'): 1}, self.server.asked)
        self.assertEqual(1, answer['revoked'])

    def test_it_ends_with_the_block(self):
        with revoking.started(self.side(), 'me', ['a'], 1, 300) as process:
            self.assertIsNone(process.poll())
        self.assertIsNotNone(process.poll())
        self.assertEqual({}, self.server.asked)
