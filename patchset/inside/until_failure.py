# SPDX-License-Identifier: Apache-2.0

"""Tests in sets, of which each runs until one of its tests fails.

For the environment that the tests run in.
"""

import unittest

import testtools


class Watch(testtools.TestResultDecorator):
    """A result for one test, which remembers whether that failed.

    For unittest it is one of its own: what a class sets up is torn down
    after each test.
    """

    failed = False

    def addError(self, *args, **kwargs):
        """Take note, and hand on."""
        self.failed = True
        super().addError(*args, **kwargs)

    def addFailure(self, *args, **kwargs):
        """Take note, and hand on."""
        self.failed = True
        super().addFailure(*args, **kwargs)


class UntilFailure(unittest.TestSuite):
    """Tests that are left out once one of their set has failed.

    :param tests: the tests, in order
    :param mark: path of a file that says so, to the other processes that
        run tests of the same set as well
    """

    def __init__(self, tests, mark):
        super().__init__(tests)
        self._mark = mark

    def run(self, result, debug=False):
        """Run the tests as far as is needed."""
        for test in self:
            if self._mark.exists():
                break
            watch = Watch(result)
            unittest.TestSuite([test]).run(watch, debug)
            if watch.failed:
                self._mark.touch()
        return result


def flat(suite):
    """The tests of a suite and of the suites in it."""
    for test in suite:
        if isinstance(test, unittest.TestSuite):
            yield from flat(test)
        else:
            yield test


def load(loader, sets, folder, last=()):
    """Load the tests of several sets.

    :param loader: a :class:`unittest.TestLoader`
    :param sets: {name: names of modules}
    :param folder: path of a folder, for the marks
    :param last: ids of the tests that come last in their set
    """
    return unittest.TestSuite(
        UntilFailure(
            sorted(
                flat(loader.loadTestsFromNames(modules)),
                key=lambda test: test.id() in last,
            ),
            folder / name,
        )
        for name, modules in sets.items()
    )
