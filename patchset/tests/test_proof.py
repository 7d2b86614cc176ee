# SPDX-License-Identifier: Apache-2.0

"""Tests of judging whether a topic's tests show anything."""

import fixtures

from patchset.testing import proof
from patchset.testing import results
from patchset.tests import base


class ProofTestCase(base.RepositoryTestCase):
    def setUp(self):
        super().setUp()
        self.said = []
        self.useFixture(
            fixtures.MonkeyPatch('patchset.progress.say', self.said.append)
        )
        self.topic = self.with_hunks()
        self.module = proof.tests(self.topic)[0]

    def judge(self, narrowed=False, **tests):
        report = results.Report()
        for name, status in tests.items():
            report.add(f'{self.module}.Tests.{name}', status, '')
        return proof.judge(self.topic, report, narrowed)

    def test_a_test_that_fails_is_named(self):
        found = self.judge(one='success', two='fail')
        self.assertEqual(results.Result(passed=1), found)
        self.assertIn(f'{self.module}.Tests.two', *self.said)

    def test_tests_that_pass_show_nothing(self):
        for narrowed in (False, True):
            found = self.judge(narrowed, one='success', two='skip')
            self.assertEqual(results.Result(failed=1), found)
            self.assertIn(f'FAILED {self.topic.name}', self.said.pop())

    def test_a_topic_without_a_test_shows_nothing_either(self):
        self.assertEqual(results.Result(failed=1), self.judge())

    def test_unless_an_expression_left_it_out(self):
        self.assertEqual(results.Result(), self.judge(narrowed=True))
        self.assertEqual([], self.said)

    def test_each_topic_that_changes_upstream_has_tests(self):
        for topic in self.topics():
            if topic.diff:
                self.assertNotEqual([], proof.tests(topic), topic.name)
