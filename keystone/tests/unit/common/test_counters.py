# SPDX-License-Identifier: Apache-2.0

import threading

from keystone.common import counters
from keystone.tests import unit


class CountersTests(unit.BaseTestCase):
    """What is counted in a block, and reported."""

    def setUp(self):
        super().setUp()
        self.reports = []
        counters.report_to(self.reports.append)
        self.addCleanup(counters.report_to, None)

    def test_a_request(self):
        with counters.counting():
            counters.count('one', 'lookups')
            counters.count('one', 'lookups', 2)
            counters.count('two', 'lookups')
            counters.measure('one', 'bytes', 5)
            counters.measure('one', 'bytes', 4)

        self.assertEqual(
            [
                {
                    ('one', 'lookups'): 3,
                    ('two', 'lookups'): 1,
                    ('one', 'bytes'): 4,
                }
            ],
            self.reports,
        )

    def test_no_request(self):
        counters.count('one', 'lookups')
        counters.measure('one', 'bytes', 5)
        with counters.counting():
            pass

        self.assertEqual([{}], self.reports)

    def test_another_thread(self):
        with counters.counting():
            thread = threading.Thread(
                target=counters.count, args=('one', 'lookups')
            )
            thread.start()
            thread.join()

        self.assertEqual([{}], self.reports)

    def test_block_is_reported_once(self):
        with counters.counting():
            counters.count('one', 'lookups')
            with counters.counting():
                counters.count('one', 'lookups')

        counters.count('one', 'lookups')
        self.assertEqual([{('one', 'lookups'): 2}], self.reports)

    def test_block_that_fails_is_reported(self):
        def fail():
            with counters.counting():
                counters.count('one', 'lookups')
                raise ConnectionError

        self.assertRaises(ConnectionError, fail)
        self.assertEqual([{('one', 'lookups'): 1}], self.reports)

    def test_threads_are_reported_separately(self):
        def work():
            with counters.counting():
                counters.count('one', 'lookups')

        with counters.counting():
            thread = threading.Thread(target=work)
            thread.start()
            thread.join()

        self.assertEqual([{('one', 'lookups'): 1}, {}], self.reports)

    def test_disabled(self):
        counters.report_to(None)
        with counters.counting():
            counters.count('one', 'lookups')
            counters.report_to(self.reports.append)
        with counters.counting():
            pass

        self.assertEqual([{}], self.reports)
