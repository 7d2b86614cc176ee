# SPDX-License-Identifier: Apache-2.0

"""One test for each topic: whether a test of the topic fails.

For the environment that the tests run in: it needs nothing but unittest.
"""

import re
import unittest


class Proof(unittest.TestCase):
    """Passes if one of some tests fails; the others are then left out.

    :param name: name of the topic
    :param tests: its tests, in order
    """

    def __init__(self, name, tests):
        super().__init__()
        self._name = name
        self._tests = tests

    def id(self):
        """What the test is called."""
        return f'proof.{self._name}'

    def runTest(self):
        """Run the tests as far as is needed."""
        result = unittest.TestResult()
        result.failfast = True
        unittest.TestSuite(self._tests).run(result)
        failed = [test.id() for test, _ in result.failures + result.errors]
        self.assertTrue(
            failed, f'{result.testsRun} tests pass on stock code, none fails'
        )
        print(f'{self._name}: fails without it: {failed[0]}')


def flat(suite):
    """The tests of a suite and of the suites in it."""
    for test in suite:
        if isinstance(test, unittest.TestSuite):
            yield from flat(test)
        else:
            yield test


def load(loader, topics, expression='', last=()):
    """The proofs of several topics.

    :param loader: a :class:`unittest.TestLoader`
    :param topics: {name: names of modules of tests}
    :param expression: regular expression of the ids of the tests to run;
        a topic without any is left out
    :param last: ids of the tests that come last in their topic
    :raises ImportError: one of the modules cannot be imported
    """
    proofs = unittest.TestSuite()
    for name, modules in topics.items():
        tests = [
            test
            for test in flat(loader.loadTestsFromNames(modules))
            if re.search(expression, test.id())
        ]
        if loader.errors:
            raise ImportError(loader.errors[0])
        if tests or not expression:
            tests.sort(key=lambda test: test.id() in last)
            proofs.addTest(Proof(name, tests))
    return proofs
