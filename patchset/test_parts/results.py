# SPDX-License-Identifier: Apache-2.0

"""What a run of tests came to."""

import dataclasses


@dataclasses.dataclass(frozen=True)
class Result:
    """Counts of tests; two of them add up.

    :param passed: tests, or checks, that held
    :param failed: tests, or checks, that did not
    :param skipped: tests that did not run
    """

    passed: int = 0
    failed: int = 0
    skipped: int = 0

    def __add__(self, other):
        return Result(
            self.passed + other.passed,
            self.failed + other.failed,
            self.skipped + other.skipped,
        )

    def __str__(self):
        text = f'{self.passed} passed, {self.failed} failed'
        return f'{text}, {self.skipped} skipped' if self.skipped else text

    @property
    def total(self):
        """Number of tests that were asked to run."""
        return self.passed + self.failed + self.skipped


# How the statuses of a subunit stream count. Others have failed: a test left
# "inprogress" is one whose process ended under it.
_COUNTS = {'success': 'passed', 'xfail': 'passed', 'skip': 'skipped'}


@dataclasses.dataclass
class Report:
    """Each test of a run, by its id, and how it counts.

    An id that was seen more than once counts once, and as failed if it
    failed once.

    :param ids: ids of the tests that were to run
    """

    ids: frozenset = frozenset()
    passed: set = dataclasses.field(default_factory=set)
    failed: dict = dataclasses.field(default_factory=dict)  # id: traceback
    skipped: dict = dataclasses.field(default_factory=dict)  # id: reason

    def add(self, test, status, text):
        """Count one test; return how it counts: passed, failed, skipped.

        :param status: as in a subunit stream
        :param text: the traceback, or the reason of a skip
        """
        kind = _COUNTS.get(status, 'failed')
        if kind == 'failed':
            self.failed[test] = text
            self.passed.discard(test)
        elif test not in self.failed:
            if kind == 'passed':
                self.passed.add(test)
            else:
                self.skipped[test] = text
        return kind

    @property
    def result(self):
        """The counts alone."""
        return Result(len(self.passed), len(self.failed), len(self.skipped))
