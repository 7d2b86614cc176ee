# SPDX-License-Identifier: Apache-2.0

"""Garbage collection in quick suites, and in others."""

from patchset.tests.unit import suites

_GARBAGE = """
import gc
import unittest


class Garbage(unittest.TestCase):
    def test_often(self):
        self.assertLess(gc.get_threshold()[0], 5000)
"""


class QuickTestCase(suites.SuiteTestCase):
    def test_garbage_is_collected_seldom(self):
        self.write('small/test_work.py', _GARBAGE)
        for quick, failed in ((False, 0), (True, 1)):
            report = self.suite(quick=quick).run('test_work')
            self.assertEqual(1, report.result.total)
            self.assertEqual(failed, len(report.failed))
