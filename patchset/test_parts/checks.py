# SPDX-License-Identifier: Apache-2.0

"""Checks: each counts as one test, and says what it found.

A check is a function without arguments that returns its findings as text,
empty when all is well.
"""

import re
import subprocess

from patchset import child
from patchset import paths
from patchset import progress
from patchset.test_parts import results


def program(command, *, cwd=paths.ROOT):
    """A check by a program: the exit code decides, the output explains.

    :param command: list of strings or paths
    """

    def find():
        done = child.finish(command, cwd=cwd, stderr=subprocess.STDOUT)
        if not done.returncode:
            return ''
        return done.stdout.strip() or f'exit {done.returncode}'

    return find


def run(checks, expression=None):
    """Run the checks whose name an expression matches; print findings.

    :param checks: {name: check}
    :param expression: regular expression; None matches every name
    :returns: a :class:`patchset.test_parts.results.Result`
    """
    total = results.Result()
    names = [name for name in checks if re.search(expression or '', name)]
    for number, name in enumerate(names, 1):
        with progress.doing(f'{name}: {number} of {len(names)} checks'):
            findings = checks[name]()
        progress.say(f'{name}: {"FAILED" if findings else "ok"}')
        for line in findings.splitlines():
            progress.say(f'    {line}'.rstrip())
        total += results.Result(passed=not findings, failed=bool(findings))
    return total
