# SPDX-License-Identifier: Apache-2.0

import os
import threading
import time
import types

import fixtures

from keystone.catalog import answer_text
from keystone.common import provider_api
from keystone.tests.unit.validation_cache import base
from keystone.token.validation_cache import creation_lease


PROVIDERS = provider_api.ProviderAPIs


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
                    PROVIDERS.identity_api.get_user.invalidate(
                        PROVIDERS.identity_api, self.user_id
                    )
                self.assertSame(truth[token], self.ask(token))

        is_changing = True
        self.run_in_threads(64, ask)
        is_changing = False
        for token in tokens:
            self.ask(token)
        asked = self.asked
        self.run_in_threads(64, ask)

        self.assertEqual(asked, self.asked)
        # The caller's, and those of its own and of three subjects.
        self.assertLessEqual(len(self.cache._records), 5)

    def slowly(self, fail_once=False):
        """Have records made slowly; the first one fails where wanted."""
        render, failures = answer_text.render_response, []

        def render_slowly(*args, **kwargs):
            time.sleep(0.3)
            if fail_once and not failures:
                failures.append(True)
                raise RuntimeError('on purpose')
            return render(*args, **kwargs)

        for name, value in (
            ('catalog.answer_text.render_response', render_slowly),
            # On a machine that is slow, it takes longer still.
            ('token.validation_cache.creation_lease.SECONDS', 60),
        ):
            self.useFixture(fixtures.MonkeyPatch(f'keystone.{name}', value))

    def test_misses_at_once_are_computed_once(self):
        token = self.get_scoped_token()
        self.slowly()
        made = self.cache.counts['made']
        results = self.run_in_threads(8, lambda _index: self.ask(token))

        self.assertEqual(made + 1, self.cache.counts['made'])
        for result in results:
            self.assertSame(results[0], result)

    def test_first_that_fails_leaves_the_others_to_themselves(self):
        token = self.get_scoped_token()
        truth = self.ask_past(token)
        self.slowly(fail_once=True)

        results = self.run_in_threads(4, lambda _index: self.ask(token))

        self.assertEqual(4, len(results))
        for answer in results:
            self.assertSame(truth, answer)

    def test_waits_for_one_process_only(self):
        """Many may have leases one after another, for a rejected token."""
        reads = []

        def get_many(_keys):
            reads.append(True)
            return [b'%d' % len(reads)]

        store = types.SimpleNamespace(
            makes_leases=True, add=lambda *_: False, get_many=get_many
        )
        with fixtures.MonkeyPatch(
            'keystone.token.validation_cache.current.ids_of_regions',
            lambda: types.SimpleNamespace(store=store),
        ):
            with creation_lease.taken('place') as is_taken:
                self.assertFalse(is_taken)
        self.assertEqual(2, len(reads))

    def test_fork_after_warm_up(self):
        self.assertHit()
        reading, writing = os.pipe()
        child = os.fork()
        if not child:
            # Whatever happens here must not reach the test runner.
            try:
                os.write(writing, b'%d' % len(self.cache._records))
            finally:
                os._exit(0)
        os.waitpid(child, 0)

        self.assertEqual(b'0', os.read(reading, 100))
        self.assertHit()
