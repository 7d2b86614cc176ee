# SPDX-License-Identifier: Apache-2.0

"""Counting tests."""

import testtools

from patchset.test_parts import results


class ResultTestCase(testtools.TestCase):
    def test_last_line(self):
        self.assertEqual('0 passed, 0 failed', str(results.Result()))
        self.assertEqual('3 passed, 1 failed', str(results.Result(3, 1)))
        self.assertEqual(
            '3 passed, 0 failed, 2 skipped', str(results.Result(3, 0, 2))
        )

    def test_sum(self):
        total = results.Result(1, 2, 3) + results.Result(10, 20, 30)
        self.assertEqual(results.Result(11, 22, 33), total)
        self.assertEqual(66, total.total)

    def test_statuses(self):
        kinds = {
            'success': 'passed',
            'xfail': 'passed',
            'fail': 'failed',
            'uxsuccess': 'failed',
            'inprogress': 'failed',
            'skip': 'skipped',
        }
        report = results.Report()
        for status, kind in kinds.items():
            self.assertEqual(kind, report.add(status, status, 'why'))
        self.assertEqual(results.Result(2, 3, 1), report.result)
        self.assertEqual({'skip': 'why'}, report.skipped)

    def test_a_test_that_failed_once_has_failed(self):
        report = results.Report()
        report.add('a', 'fail', 'why')
        report.add('a', 'success', '')
        report.add('b', 'success', '')
        report.add('b', 'fail', 'why')
        self.assertEqual(results.Result(0, 2), report.result)
