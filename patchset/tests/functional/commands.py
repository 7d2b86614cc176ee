# SPDX-License-Identifier: Apache-2.0

"""``./ks`` in the background of a test."""

import re
import signal
import subprocess

from patchset import paths


def start(test, words, environment, patience):
    """Start ``./ks``; the test ends it.

    :param test: the test case
    :param words: command and arguments
    :param environment: its environment variables: a dict
    :param patience: seconds that it may take to stop
    :returns: a :class:`subprocess.Popen` with one pipe for all output
    """
    process = subprocess.Popen(
        [paths.ROOT / 'ks', *words],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        # A shell that runs the tests in the background ignores Ctrl-C.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    test.addCleanup(process.stdout.close)
    test.addCleanup(process.wait, patience)
    test.addCleanup(process.kill)
    return process


def output_until(test, process, pattern):
    """Read the output until a line matches; fail the test if none does.

    :param pattern: regular expression, searched for in each line
    :returns: the output so far
    """
    lines = []
    for line in process.stdout:
        lines.append(line)
        if re.search(pattern, line):
            return ''.join(lines)
    test.fail(''.join(lines))
