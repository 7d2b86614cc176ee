# SPDX-License-Identifier: Apache-2.0

"""Tests of writes during a load, on a server that only counts."""

import time
import types

from bench import writing
from patchset import errors
from patchset.tests.unit import test_bench_load


class WriterTestCase(test_bench_load.ServerTestCase):
    def write(self, steps, **more):
        keystone = types.SimpleNamespace(url=self.base, credentials={})
        with writing.writing(keystone, steps, **more) as answer:
            self.assertEqual({}, answer)
        return answer

    def delete(self, doomed, rate):
        step = writing.step('DELETE', '/auth/tokens', 'me', subject='<token>')
        values = [{'token': token} for token in doomed]
        return self.write([step], seconds=1, rate=rate, values=values)

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

    def test_later_steps_name_what_earlier_ones_gave(self):
        self.server.answer = {'thing': {'id': 'ab12'}}
        steps = [
            writing.step(
                'POST', '/things', 'me', {'name': '<unique>'},
                made=('thing', 'id'), given='X-Given',
            ),
            writing.step('DELETE', '/things/<made>', 'me', subject='<given>'),
        ]  # fmt: skip
        answer = self.write(steps, seconds=1)
        self.assertEqual({'/v3/things/ab12'}, self.server.paths['gift'])
        # As often as they were answered, each with a name of its own.
        self.assertGreater(answer['done'], 1)
        self.assertEqual(answer['done'], self.server.asked['DELETE', 'gift'])
        self.assertEqual(answer['done'], len(self.server.bodies))

    def test_it_ends_with_a_block_that_fails(self):
        start = time.monotonic()
        self.assertRaises(ZeroDivisionError, self.fail_while_writing)
        self.assertLess(time.monotonic() - start, 60)
        self.assertEqual({}, self.server.asked)

    def fail_while_writing(self):
        keystone = types.SimpleNamespace(url=self.base, credentials={})
        step = writing.step('DELETE', '/auth/tokens')
        with writing.writing(keystone, [step], 300, rate=0.01):
            raise ZeroDivisionError
