# SPDX-License-Identifier: Apache-2.0

import threading

from keystone.common import counters
from keystone.tests import unit


class CountersTests(unit.BaseTestCase):
    """What is counted between the start and the end of a request."""

    def setUp(self):
        super().setUp()
        self.addCleanup(counters.end)

    def test_a_request(self):
        counters.begin()
        counters.count('one', 'lookups')
        counters.count('one', 'lookups', 2)
        counters.count('two', 'lookups')
        counters.measure('one', 'bytes', 5)
        counters.measure('one', 'bytes', 4)

        self.assertTrue(counters.is_counting())
        self.assertEqual(
            {
                ('one', 'lookups'): 3,
                ('two', 'lookups'): 1,
                ('one', 'bytes'): 4,
            },
            counters.end(),
        )

    def test_no_request(self):
        counters.count('one', 'lookups')
        counters.measure('one', 'bytes', 5)

        self.assertFalse(counters.is_counting())
        self.assertEqual({}, counters.end())

    def test_another_thread(self):
        counters.begin()
        thread = threading.Thread(
            target=counters.count, args=('one', 'lookups')
        )
        thread.start()
        thread.join()

        self.assertEqual({}, counters.end())


class CountingTests(unit.BaseTestCase):
    """What is reported."""

    def setUp(self):
        super().setUp()
        self.reports = []
        self.addCleanup(counters.report_to, None)

    def test_block_is_reported_once(self):
        counters.report_to(self.reports.append)
        with counters.counting():
            counters.count('one', 'lookups')
            with counters.counting():
                counters.count('one', 'lookups')

        self.assertEqual([{('one', 'lookups'): 2}], self.reports)
        self.assertFalse(counters.is_counting())

    def test_block_that_fails_is_reported(self):
        counters.report_to(self.reports.append)

        def fail():
            with counters.counting():
                counters.count('one', 'lookups')
                raise ConnectionError

        self.assertRaises(ConnectionError, fail)
        self.assertEqual([{('one', 'lookups'): 1}], self.reports)

    def test_threads_are_reported_separately(self):
        counters.report_to(self.reports.append)

        def work():
            with counters.counting():
                counters.count('one', 'lookups')

        with counters.counting():
            thread = threading.Thread(target=work)
            thread.start()
            thread.join()

        self.assertEqual([{('one', 'lookups'): 1}, {}], self.reports)

    def test_disabled(self):
        with counters.counting():
            counters.count('one', 'lookups')
            self.assertFalse(counters.is_counting())
