# Licensed under the Apache License, Version 2.0 (the "License"); you may
# not use this file except in compliance with the License. You may obtain
# a copy of the License at
#
#      http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the
# License for the specific language governing permissions and limitations
# under the License.

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
