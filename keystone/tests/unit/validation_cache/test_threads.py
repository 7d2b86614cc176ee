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

import os
import threading

from keystone.common.cache import stamps
from keystone.tests.unit.validation_cache import base


class ThreadTests(base.ValidationCacheTestCase):
    """Many threads, and more than one process."""

    def run_in_threads(self, number, function):
        """Call a function in threads at once; its results."""
        results, errors = [], []
        ready = threading.Barrier(number)

        def run(index):
            ready.wait(30)
            try:
                results.append(function(index))
            except Exception as error:
                errors.append(error)

        threads = [
            threading.Thread(target=run, args=(index,))
            for index in range(number)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(120)
        self.assertEqual([], errors)
        return results

    def test_64_threads(self):
        tokens = [self.get_scoped_token() for _ in range(3)]
        truth = {token: self.ask_past(token) for token in tokens}

        def ask(index):
            for turn in range(20):
                token = tokens[(index + turn) % len(tokens)]
                if index == 0 and turn % 5 == 0 and is_changing:
                    stamps.written()
                self.assertSame(truth[token], self.ask(token))

        is_changing = True
        self.run_in_threads(64, ask)
        is_changing = False
        for token in tokens:
            self.ask(token)
        app, asked = self.middleware._app, []

        def note(environ, start_response):
            asked.append(environ)
            return app(environ, start_response)

        self.middleware._app = note
        self.run_in_threads(64, ask)
        self.middleware._app = app

        self.assertEqual([], asked)
        self.assertLessEqual(self.cache.status()['entries'], 5)

    def test_misses_at_once_are_computed_once(self):
        token = self.get_scoped_token()
        app, asked = self.middleware._app, []
        begun = threading.Event()

        def slow(environ, start_response):
            asked.append(environ)
            begun.wait(0.3)
            return app(environ, start_response)

        self.middleware._app = slow
        results = self.run_in_threads(8, lambda _index: self.ask(token))
        self.middleware._app = app

        self.assertEqual(1, len(asked))
        for result in results:
            self.assertSame(results[0], result)

    def test_leader_that_fails_leaves_the_others_to_themselves(self):
        token = self.get_scoped_token()
        app, asked = self.middleware._app, []
        begun = threading.Event()

        def failing(environ, start_response):
            asked.append(environ)
            if len(asked) == 1:
                begun.wait(0.3)
                raise RuntimeError('on purpose')
            return app(environ, start_response)

        self.middleware._app = failing
        failures = []

        def ask(_index):
            try:
                return self.ask(token)
            except RuntimeError as error:
                failures.append(error)

        results = self.run_in_threads(4, ask)
        self.middleware._app = app

        self.assertEqual(1, len(failures))
        truth = self.ask_past(token)
        answers = [result for result in results if result]
        self.assertEqual(3, len(answers))
        for answer in answers:
            self.assertSame(truth, answer)

    def test_fork_after_warm_up(self):
        self.assertHit()
        secret = self.cache._secret
        reading, writing = os.pipe()
        child = os.fork()
        if not child:
            # Whatever happens here must not reach the test runner.
            try:
                status = self.cache.status()
                fresh = self.cache._secret != secret
                os.write(writing, b'%d %d' % (fresh, status['entries']))
            finally:
                os._exit(0)
        os.waitpid(child, 0)

        self.assertEqual(b'1 0', os.read(reading, 100))
        self.assertEqual(secret, self.cache._secret)
        self.assertHit()
