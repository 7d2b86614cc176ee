# SPDX-License-Identifier: Apache-2.0

"""Tests of writes during a load, on a server that only counts."""

import time
import types

from bench import client
from bench import writing
from patchset import errors
from patchset.tests.unit import test_bench_load


class WriterTestCase(test_bench_load.ServerTestCase):
    def write(self, write, **more):
        keystone = types.SimpleNamespace(url=self.base, credentials={})
        with writing.writing(keystone, write, **more) as answer:
            self.assertEqual({}, answer)
        return answer

    def delete(self, doomed, rate):
        doomed = doomed[::-1]

        def write(keystone):
            client.revoke(keystone, 'me', doomed.pop())

        return self.write(write, seconds=1, rate=rate)

    def test_each_value_once(self):
        doomed = [f'token{number}' for number in range(20)]
        answer = self.delete(doomed, 20)
        self.assertEqual(
            {('DELETE', token): 1 for token in doomed}, self.server.asked
        )
        self.assertEqual(20, answer['done'])
        self.assertLessEqual(answer['rate'], 20)
        self.assertLessEqual(answer['p50'], answer['p99'])

    def test_refusals_are_told(self):
        self.server.codes['DELETE', 'b'] = 404
        error = self.assertRaises(
            errors.Error, self.delete, ['a', 'b', 'c'], 3
        )
        self.assertIn('1 rounds of writes failed', str(error))
        self.assertIn('DELETE /v3/auth/tokens: HTTP Error 404', str(error))

    def test_a_slow_pace_writes_in_the_middle(self):
        start = time.monotonic()
        answer = self.delete(['a', 'b'], 1)
        self.assertGreater(time.monotonic() - start, 0.5)
        self.assertEqual({('DELETE', 'a'): 1}, self.server.asked)
        self.assertEqual(1, answer['done'])

    def test_what_was_made_is_deleted(self):
        self.server.answer = {'thing': {'id': 'ab12'}}

        def write(keystone):
            body = client.named('thing')
            client.create_and_delete(keystone, 'me', '/things', body)

        answer = self.write(write, seconds=1)
        self.assertEqual(
            {'/v3/things', '/v3/things/ab12'}, self.server.paths[None]
        )
        # As often as they were answered, each with a name of its own.
        self.assertGreater(answer['done'], 1)
        self.assertEqual(answer['done'], self.server.asked['DELETE', None])
        self.assertEqual(answer['done'], len(self.server.bodies))

    def test_it_ends_with_a_block_that_fails(self):
        start = time.monotonic()
        self.assertRaises(ZeroDivisionError, self.fail_while_writing)
        self.assertLess(time.monotonic() - start, 60)
        self.assertEqual({}, self.server.asked)

    def fail_while_writing(self):
        keystone = types.SimpleNamespace(url=self.base, credentials={})
        with writing.writing(keystone, self.fail, 300, rate=0.01):
            raise ZeroDivisionError
