# SPDX-License-Identifier: Apache-2.0

"""Tests of judging whether a topic's tests show anything."""

import contextlib
import io
import pathlib
import sys
import unittest

import fixtures
import testtools

from patchset.test_parts import proof
from patchset.tests.unit import base
from patchset.tree_scripts import proof_tests

_TOPIC = """
import unittest


class Topic(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.ready = True

    @classmethod
    def tearDownClass(cls):
        cls.ready = False

    def setUp(self):
        self.assertTrue(self.ready)

    def test_1_passes(self):
        print('passed')

    def test_2_decides(self):
        self.{how}

    def test_3_is_left_out(self):
        print('not left out')
"""


class ProofTestCase(testtools.TestCase):
    def setUp(self):
        super().setUp()
        self.folder = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        path = [str(self.folder), *sys.path]
        self.useFixture(fixtures.MonkeyPatch('sys.path', path))

    def module(self, name, how):
        (self.folder / f'{name}.py').write_text(_TOPIC.format(how=how))
        self.addCleanup(sys.modules.pop, name, None)
        return name

    def judge(self, *modules, **options):
        """How many proofs there are, how many fail, and what is said."""
        suite = proof_tests.load(
            unittest.TestLoader(), {'topic': modules}, **options
        )
        result = unittest.TestResult()
        said = io.StringIO()
        with contextlib.redirect_stdout(said):
            suite.run(result)
        self.assertEqual([], result.errors)
        reasons = ''.join(reason for _, reason in result.failures)
        said.write(reasons)
        return result.testsRun, len(result.failures), said.getvalue()

    def test_the_first_failure_is_enough(self):
        for name, how in (('fails', 'fail()'), ('raises', 'nonsense()')):
            run, failed, said = self.judge(self.module(name, how))
            self.assertEqual((1, 0), (run, failed))
            self.assertIn(f'without it: {name}.Topic.test_2_decides', said)
            self.assertNotIn('not left out', said)

    def test_long_tests_come_last(self):
        module = self.module('waits', 'fail()')
        _, failed, said = self.judge(
            module, last=('waits.Topic.test_2_decides',)
        )
        self.assertEqual(0, failed)
        self.assertIn('not left out', said)

    def test_tests_that_pass_show_nothing(self):
        run, failed, said = self.judge(
            self.module('passes', 'assertTrue(True)'),
            self.module('skips', 'skipTest("not today")'),
        )
        self.assertEqual((1, 1), (run, failed))
        self.assertIn('6 tests pass on stock code', said)

    def test_a_topic_without_a_test_shows_nothing_either(self):
        self.assertEqual((1, 1), self.judge()[:2])

    def test_unless_an_expression_left_it_out(self):
        module = self.module('narrowed', 'fail()')
        for expression, expected in (
            ('nonsense', (0, 0)), ('_1_', (1, 1)), ('_2_', (1, 0)),
        ):  # fmt: skip
            found = self.judge(module, expression=expression)
            self.assertEqual(expected, found[:2], expression)

    def test_a_module_that_does_not_import_is_no_failure(self):
        (self.folder / 'broken.py').write_text('import no_such_module\n')
        error = self.assertRaises(ImportError, self.judge, 'broken')
        self.assertIn('no_such_module', str(error))


class TopicsTestCase(base.RepositoryTestCase):
    def test_each_topic_that_changes_upstream_has_tests(self):
        for topic in self.topics():
            if topic.diff:
                self.assertNotEqual([], proof.tests(topic), topic.name)
