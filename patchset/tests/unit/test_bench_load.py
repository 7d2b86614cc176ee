# SPDX-License-Identifier: Apache-2.0

"""Tests of the measurements' load, on a server that only counts."""

import collections
import http.server
import json
import os
import pathlib
import signal
import subprocess
import sys
import threading
import time

import testtools

from bench import load
from patchset import errors
from patchset import paths
from patchset.tests.unit import processes

_LOAD = """
import sys
from bench import load
from patchset import stopping

stopping.in_order()
load.exactly(sys.argv[1], [('', 'a', '')] * 300_000, 3)
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

    do_PUT = do_POST

    def do_DELETE(self):
        self.answer(204)

    def answer(self, usual):
        asked = (self.command, self.headers['X-Subject-Token'])
        with self.server.lock:
            self.server.asked[asked] += 1
            self.server.paths[asked[1]].add(self.path)
        time.sleep(self.server.late.get(asked[1], 0))
        if self.server.gate:
            self.server.gate.wait()
        self.send_response(self.server.codes.get(asked, usual))
        content = json.dumps(self.server.answer).encode()
        if self.command == 'DELETE':
            content = b''
        self.send_header('X-Given', 'gift')
        self.send_header('Content-Length', len(content))
        self.end_headers()
        self.wfile.write(content)

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
        self.server.paths = collections.defaultdict(set)
        self.server.late = {}
        self.server.answer = {}
        self.server.gate = None
        self.server.connections = 0
        self.server.lock = threading.Lock()
        self.base = f'http://127.0.0.1:{self.server.server_port}/v3'
        self.url = f'{self.base}/auth/tokens'
        thread = threading.Thread(target=self.server.serve_forever)
        thread.start()
        self.addCleanup(self.server.server_close)
        self.addCleanup(thread.join)
        self.addCleanup(self.server.shutdown)


class LoadTestCase(ServerTestCase):
    def test_as_many_as_asked_of_each(self):
        found = load.exactly(self.url, load.validations('ab') * 3, 2)
        self.assertEqual(6, found.requests)
        self.assertEqual({('GET', 'a'): 3, ('GET', 'b'): 3}, self.server.asked)

    def test_clients_do_not_wait_for_each_other(self):
        # None is answered before all have asked.
        self.server.gate = threading.Barrier(4, timeout=60)
        found = load.exactly(self.url, [('', '', '')] * 4, 4)
        self.assertEqual(4, found.requests)

    def test_one_refused_client_is_no_result(self):
        self.server.codes['GET', 'b'] = 404
        requests = load.validations('abc')
        self.assertRaises(errors.Error, load.exactly, self.url, requests, 3)

    def test_who_asks(self):
        self.assertEqual([('a', 'a', '')], load.validations('a'))
        self.assertEqual([('c', 'a', '')], load.validations('a', 'c'))

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
        requests = load.validations('abc', 'caller')
        found = load.during(self.url, requests, 1, 2).measure()
        asked = self.server.asked
        self.assertEqual({('GET', name) for name in 'abc'}, set(asked))
        self.assertLessEqual(max(asked.values()) - min(asked.values()), 2)
        # Those under way at the end were asked and not counted.
        self.assertLessEqual(found['requests'], asked.total())
        self.assertLessEqual(found['p50'], found['p99'])

    def test_steady_rate(self):
        self.server.late['b'] = 0.2  # seconds, of every other request
        start = time.monotonic()
        found = load.during(self.url, load.validations('ab'), 2, 20, 40)
        took = time.monotonic() - start
        # One client alone has ten answers per second, and twenty have 200.
        self.assertGreater(found.requests, 30)
        self.assertLessEqual(self.server.asked.total(), 40 * took + 1)

    def test_one_refused_token_is_no_result(self):
        self.server.codes['GET', 'b'] = 404
        requests = load.validations('abc', 'c')
        error = self.assertRaises(
            errors.Error, load.during, self.url, requests, 1, 2
        )
        self.assertIn('were rejected', str(error))

    def test_no_server(self):
        error = self.assertRaises(
            errors.Error, load.during, 'http://127.0.0.1:1/',
            [('', '', '')], 1, 1,
        )  # fmt: skip
        self.assertIn('wrk failed: ', str(error))

    def test_each_request_once(self):
        requests = [('me', str(number), '') for number in range(40)]
        start = time.monotonic()
        found = load.once([self.url], requests, 1)
        self.assertLess(time.monotonic() - start, 30)
        self.assertEqual(40, found.requests)
        for number in range(40):
            # The client has begun again when the last answer was there.
            self.assertIn(self.server.asked['GET', str(number)], (1, 2))

    def test_bodies_are_posted(self):
        load.once([self.url], [('', '', '[1]'), ('', '', '[2]')], 1)
        self.assertEqual(
            {(body, 'application/json') for body in (b'[1]', b'[2]')},
            set(self.server.bodies),
        )

    def test_methods_and_paths_of_requests(self):
        requests = [
            ('', 'a', 'body', 'PUT', '/one?x=1'),
            ('', 'b', '', 'DELETE', '/two'),
            ('', 'c', '', '', '/three'),
        ]
        self.assertEqual(3, load.once([self.url], requests, 1).requests)
        paths = {name: self.server.paths[name] for name in 'abc'}
        self.assertEqual(
            {'a': {'/one?x=1'}, 'b': {'/two'}, 'c': {'/three'}}, paths
        )
        self.assertEqual(
            {('PUT', 'a'), ('DELETE', 'b'), ('GET', 'c')},
            set(self.server.asked),
        )

    def test_two_servers_share_the_requests(self):
        urls = [f'{self.url}/{name}' for name in ('one', 'two')]
        requests = [('me', str(number), '') for number in range(10)]
        self.assertEqual(10, load.once(urls, requests, 2).requests)
        for number in range(10):
            name = urls[number % 2].rpartition('/v3')[2]
            self.assertIn(f'/v3{name}', self.server.paths[str(number)])
            self.assertEqual(1, len(self.server.paths[str(number)]))

    def test_the_times_are_those_of_the_answers(self):
        self.server.late['3'] = 3  # seconds, longer than any stall
        requests = [('me', str(number), '') for number in range(20)]
        found = load.once([self.url], requests, 1)
        # Without those that wrk adds for the late one.
        self.assertEqual(20, found.requests)
        self.assertGreater(max(found.times), 3_000_000)
        self.assertEqual(1, sum(n for t, n in found.times.items() if t > 2e6))


class AnswersTestCase(testtools.TestCase):
    def test_one_after_the_other(self):
        parts = [
            load.Answers(rate=100, times={1000: 99, 9000: 1}),
            load.Answers(rate=50, times={1000: 50}),
        ]
        found = load.joined(parts)
        self.assertAlmostEqual(75, found.rate)
        self.assertEqual({1000: 149, 9000: 1}, found.times)

    def test_percentiles(self):
        times = {1000: 50, 2000: 49, 7250: 1}
        found = load.Answers(rate=9.87654321, times=times).measure()
        self.assertEqual(
            {'rate': 9.87654, 'p50': 1.0, 'p99': 2.0, 'requests': 100}, found
        )

    def test_what_wrk_adds_comes_out_again(self):
        # One client, ten requests in a second: a pace of 100 ms. To one
        # that took 520 ms, wrk has added 420, 320, 220 and 120 ms.
        times = [[20_000 * n, 1] for n in range(1, 5)]
        times += [[n, 1] for n in (120_000, 220_000, 320_000, 420_000)]
        times += [[53_000, 5], [520_000, 1]]
        text = json.dumps(
            {'requests': 10, 'microseconds': 1_000_000, 'refused': 0}
            | {'failed': 0, 'times': times}
        )
        found = load.parse([text], 1)
        self.assertEqual((10, 10), (found.requests, found.rate))
        self.assertEqual(
            [20_000, 40_000, 53_000, 60_000, 80_000, 520_000],
            sorted(found.times),
        )

    def test_less_than_the_least_time_is_not_listed(self):
        # wrk itself began late: it has added 23 and 13 ms.
        text = json.dumps(
            {'requests': 1, 'microseconds': 10_000, 'refused': 0}
            | {'failed': 0, 'times': [[33_000, 1]]}
        )
        self.assertEqual({33_000: 1}, load.parse([text], 1).times)

    def test_failures_are_counted(self):
        text = json.dumps(
            {'requests': 4, 'microseconds': 1_000_000, 'refused': 1}
            | {'failed': 2, 'times': [[200_000, 4]]}
        )
        self.assertRaises(errors.Error, load.parse, [text], 1)
        found = load.parse([text], 1, strict=False)
        self.assertEqual((3, 3), (found.rate, found.failed))

    def test_no_answer_is_no_result(self):
        text = json.dumps(
            {'requests': 0, 'microseconds': 1000, 'refused': 0}
            | {'failed': 0, 'times': []}
        )
        self.assertRaises(errors.Error, load.parse, [text, text], 1)
