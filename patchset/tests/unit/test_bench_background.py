# SPDX-License-Identifier: Apache-2.0

"""Tests of writes in the background, on a server that only counts."""

import time
import types

from bench import background
from bench import client
from patchset import errors
from patchset.tests.unit import test_bench_load


class WriterTestCase(test_bench_load.ServerTestCase):
    def setUp(self):
        super().setUp()
        self.keystone = types.SimpleNamespace(url=self.base, credentials={})

    def write(self, write, **options):
        with background.writes(write, **options) as result:
            self.assertEqual({}, result)
        return result

    def revoke(self, tokens, rate):
        tokens = iter(tokens)
        return self.write(
            lambda: client.revoke(self.keystone, 'me', next(tokens)),
            seconds=1,
            rate=rate,
        )

    def test_each_value_once(self):
        tokens = [f'token{number}' for number in range(20)]
        result = self.revoke(tokens, 20)
        self.assertEqual(
            {('DELETE', token): 1 for token in tokens}, self.server.asked
        )
        self.assertEqual(20, result['done'])
        self.assertLessEqual(result['rate'], 20)
        self.assertLessEqual(result['p50'], result['p99'])

    def test_failures_are_reported(self):
        self.server.codes['DELETE', 'b'] = 404
        error = self.assertRaises(
            errors.Error, self.revoke, ['a', 'b', 'c'], 3
        )
        self.assertIn('1 rounds of writes failed', str(error))
        self.assertIn('DELETE /v3/auth/tokens: HTTP Error 404', str(error))

    def test_a_low_rate_writes_in_the_middle(self):
        start = time.monotonic()
        result = self.revoke(['a', 'b'], 1)
        self.assertGreater(time.monotonic() - start, 0.5)
        self.assertEqual({('DELETE', 'a'): 1}, self.server.asked)
        self.assertEqual(1, result['done'])

    def test_what_was_made_is_deleted(self):
        self.server.answer = {'thing': {'id': 'ab12'}}

        def write():
            body = client.named_body('thing')
            client.create_and_delete(self.keystone, 'me', '/things', body)

        result = self.write(write, seconds=1)
        self.assertEqual(
            {'/v3/things', '/v3/things/ab12'}, self.server.paths[None]
        )
        # Each with a name of its own.
        self.assertGreater(result['done'], 1)
        self.assertEqual(result['done'], self.server.asked['DELETE', None])
        self.assertEqual(result['done'], len(self.server.bodies))

    def test_it_ends_with_a_block_that_fails(self):
        start = time.monotonic()
        self.assertRaises(ZeroDivisionError, self.fail_while_writing)
        self.assertLess(time.monotonic() - start, 60)
        self.assertEqual({}, self.server.asked)

    def fail_while_writing(self):
        with background.writes(self.fail, 300, rate=0.01):
            raise ZeroDivisionError
