# SPDX-License-Identifier: Apache-2.0

"""Checks with a name: each counts as one test, and says what it found."""

import collections.abc
import dataclasses
import os
import re
import subprocess

from patchset import errors
from patchset import paths
from patchset import progress
from patchset.testing import results


@dataclasses.dataclass(frozen=True)
class Check:
    """One check.

    :param name: what it is called in the output and in an expression
    :param find: called without arguments; returns its findings as text,
        empty when all is well
    """

    name: str
    find: collections.abc.Callable


def program(name, command, *, cwd=paths.ROOT, env=None):
    """A check by a program: the exit code decides, the output explains.

    :param command: list of strings or paths
    :param env: variables to add to this process' own
    """

    def find():
        try:
            done = subprocess.run(
                [str(word) for word in command],
                cwd=cwd,
                env={**os.environ, **(env or {})},
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                errors='replace',
            )
        except FileNotFoundError:
            raise errors.NotInstalled(f'{command[0]} is not installed')
        if not done.returncode:
            return ''
        return done.stdout.strip() or f'exit {done.returncode}'

    return Check(name, find)


def run(checks, expression=None):
    """Run the checks whose name an expression matches; print findings.

    :param checks: list of :class:`Check`
    :param expression: regular expression; None matches every name
    :returns: a :class:`patchset.testing.results.Result`
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
