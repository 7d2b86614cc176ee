# SPDX-License-Identifier: Apache-2.0

"""Checks with a name: each counts as one test, and says what it found."""

import collections.abc
import dataclasses
import re
import subprocess

from patchset import child
from patchset import paths
from patchset import progress
from patchset.test_parts import results


@dataclasses.dataclass(frozen=True)
class Check:
    """One check.

    :param name: what it is called in the output and in an expression
    :param find: called without arguments; returns its findings as text,
        empty when all is well
    """

    name: str
    find: collections.abc.Callable


def program(name, command, *, cwd=paths.ROOT):
    """A check by a program: the exit code decides, the output explains.

    :param command: list of strings or paths
    """

    def find():
        done = child.finish(command, cwd=cwd, stderr=subprocess.STDOUT)
        if not done.returncode:
            return ''
        return done.stdout.strip() or f'exit {done.returncode}'

    return Check(name, find)


def run(checks, expression=None):
    """Run the checks whose name an expression matches; print findings.

    :param checks: list of :class:`Check`
    :param expression: regular expression; None matches every name
    :returns: a :class:`patchset.test_parts.results.Result`
    """
    total = results.Result()
    chosen = [
        check
        for check in checks
        if not expression or re.search(expression, check.name)
    ]
    for number, check in enumerate(chosen, 1):
        with progress.doing(f'{check.name}: {number} of {len(chosen)} checks'):
            findings = check.find()
        progress.say(f'{check.name}: {"FAILED" if findings else "ok"}')
        for line in findings.splitlines():
            progress.say(f'    {line}'.rstrip())
        total += results.Result(passed=not findings, failed=bool(findings))
    return total
