# SPDX-License-Identifier: Apache-2.0

import fixtures
from oslo_log import formatters

from keystone.common import circuit_breaker
from keystone.tests.unit.cache import base


class CircuitBreakerTests(base.CacheTestCase):
    """Servers that fail are left alone for a while."""

    def setUp(self):
        super().setUp()
        self.calls = self.duration = 0
        self.breaker = circuit_breaker.CircuitBreaker('a server', self.clock)

    def fail(self):
        self.calls += 1
        self.now += self.duration
        raise OSError('user:password@server')

    def call(self):
        self.assertRaises(
            circuit_breaker.Unavailable, self.breaker.call, self.fail
        )

    def test_answer(self):
        self.assertEqual('abc', self.breaker.call('abc'.strip))

    def test_failure(self):
        for _ in range(3):
            self.call()
        self.assertEqual(1, self.calls)
        self.now += base.PAUSE
        self.call()
        self.assertEqual(2, self.calls)
        self.now += base.PAUSE
        self.assertEqual('abc', self.breaker.call('abc'.strip))

    def assertBypassedFor(self, seconds):
        self.call()
        self.now += seconds - 0.1
        self.assertTrue(self.breaker.is_open)
        self.now += 0.1
        self.assertFalse(self.breaker.is_open)

    def test_server_that_hangs(self):
        self.duration = 1
        for seconds in (2, 4, 8, 16, 16):
            self.assertBypassedFor(seconds)
        self.breaker.call(str)
        self.assertBypassedFor(2)

    def test_server_that_refuses_connections(self):
        for _ in range(5):
            self.assertBypassedFor(2)

    def test_log(self):
        log = self.useFixture(fixtures.FakeLogger(format='%(message)s'))
        for _ in range(3):
            self.call()
            self.now += base.PAUSE
        self.breaker.call(str)
        self.breaker.call(str)
        self.assertEqual(
            'Cache error: OSError. Bypassing a server until it works again.\n'
            'Using a server again.\n',
            log.output,
        )

    def test_error_is_not_logged_but_for_its_kind(self):
        # It appends the error that is being handled.
        output = self.useFixture(
            fixtures.FakeLogger(
                format='%(message)s', formatter=formatters.ContextFormatter
            )
        )
        self.call()
        self.assertIn('OSError', output.output)
        self.assertNotIn('password', output.output)
