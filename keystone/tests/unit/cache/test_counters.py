# SPDX-License-Identifier: Apache-2.0

import logging

import fixtures
from oslo_log import log

from keystone.common import cache
from keystone.common import counters
from keystone.server.flask import core as flask_core
from keystone.server.flask.request_processing.middleware import cache_report
from keystone.tests.unit.cache import base

_IDS = cache.CACHE_INVALIDATION_REGION.name


class CountersTests(base.CacheTestCase):
    """What is counted, and what is told about it."""

    def setUp(self):
        super().setUp()
        statsd = self.useFixture(base.StatsdServer(self.config_fixture))
        self.server = statsd.socket
        self.name = 'one'
        self.process().read('other')
        self.one = self.process()

    def count(self, function, *args):
        reports = []
        counters.report_to(reports.append)
        with counters.counting():
            self.one.begin()
            function(*args)
        (found,) = reports
        return found

    def nothing(self):
        """A request that does nothing."""

    def ask(self, environ=None, start_response=None):
        """A request that looks for two values, one of them twice."""
        self.one.begin()
        for key in ('other', 'other', 'key'):
            self.one.memoized(key)
        return [b'answer']

    def test_a_request(self):
        found = self.count(self.ask)
        # A region looks for a value that is missing once more.
        self.assertEqual(4, found['one', counters.LOOKUPS])
        self.assertEqual(2, found['one', counters.MISSES])
        # The last one stores what was missing.
        self.assertEqual(4, found['one', counters.ROUND_TRIPS])
        self.assertEqual(1, found[_IDS, counters.ROUND_TRIPS])

    def test_values_that_are_dropped(self):
        found = self.count(self.one.memoized.invalidate, 'other')
        self.assertEqual(1, found['one', counters.ROUND_TRIPS])

    def test_no_request(self):
        self.one.read()
        self.assertEqual({}, self.count(self.nothing))

    def test_another_thread(self):
        found = self.count(self.in_thread, self.one.read)
        self.assertEqual({}, found)

    def test_log(self):
        output = self.useFixture(fixtures.FakeLogger(level=log.DEBUG))

        answer = cache_report.report(self.ask)({}, None)

        self.assertEqual([b'answer'], answer)
        self.assertIn('one: lookups 4, misses 2, round_trips 4', output.output)

    def test_request_that_fails(self):
        def fail(environ, start_response):
            self.ask()
            raise ConnectionError

        output = self.useFixture(fixtures.FakeLogger(level=log.DEBUG))
        application = cache_report.report(fail)
        self.assertRaises(ConnectionError, application, {}, None)
        self.assertIn('lookups 4', output.output)
        self.assertEqual({}, self.count(self.nothing))

    def test_statsd(self):
        cache_report.report(self.ask)({}, None)

        lines = self.server.recv(65536).decode().splitlines()
        self.assertIn('keystone.cache.one.lookups:4|c', lines)
        self.assertIn(
            'keystone.cache.invalidation_region.round_trips:1|c', lines
        )

    def test_middleware_of_keystone(self):
        self.assertIs(cache_report.report, flask_core._KEYSTONE_MIDDLEWARE[0])


class SwitchedOffTests(base.CacheTestCase):
    """Nothing stands in the way when nothing is counted."""

    def test_middleware(self):
        def application(environ, start_response):
            """Answer nothing."""

        self.assertIs(application, cache_report.report(application))

    def test_host_that_cannot_be_resolved(self):
        self.config_fixture.config(
            group='cache_counters', statsd_host='statsd.invalid'
        )
        logged = self.useFixture(fixtures.FakeLogger(level=logging.ERROR))

        def application(environ, start_response):
            """Answer nothing."""

        self.assertIs(application, cache_report.report(application))
        self.assertIn('[cache_counters] statsd_host', logged.output)
