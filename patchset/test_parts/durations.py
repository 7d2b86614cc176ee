# SPDX-License-Identifier: Apache-2.0

"""How long tests take, so that each process gets its share of the long ones.

stestr divides tests by the times of earlier runs. Each run has a repository
of its own, so that it knows none; ``long_tests.txt`` names the tests for
which it matters.
"""

from dbm import dumb
import pathlib

LIST = pathlib.Path(__file__).parent / 'long_tests.txt'


def known():
    """Seconds that the longest tests take, {id: seconds}."""
    lines = (line.partition('#')[0].split() for line in LIST.open())
    return {test: float(seconds) for seconds, test in filter(None, lines)}


def make_repository(folder, ids=()):
    """Make a repository for stestr that knows how long tests take.

    :param folder: folder to make it in
    :param ids: ids of tests that take about the same time, if all are known
    """
    repository = folder / '.stestr'
    repository.mkdir()
    # What `stestr init` writes; starting it takes longer than a small suite.
    (repository / 'format').write_text('1\n')
    (repository / 'next-stream').write_text('0\n')
    times = {**{test.partition('[')[0]: 1 for test in ids}, **known()}
    with dumb.open(str(repository / 'times.dbm'), 'c') as database:
        for test, seconds in times.items():
            database[test] = str(seconds)
