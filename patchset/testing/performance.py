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

"""The performance tests of the patch set: counts of work, no clocks."""

from patchset import environment
from patchset import errors
from patchset import trees
from patchset.testing import results
from patchset.testing import stestr

PACKAGES = ('test',)  # profiles of bindep.txt
FOLDER = 'keystone/tests/performance'


def run(options):
    """Run the part.

    :param options: a :class:`patchset.testing.options.Options`
    :returns: a :class:`patchset.testing.results.Result`
    """
    if options.stock:
        raise errors.UsageError(
            'performance: the stock tree has no tests of ours'
        )
    venv = environment.Environment(options.pin.release, 'test').ensure()
    tree = trees.get(options.pin)
    if not (tree / FOLDER).is_dir():
        return results.Result()
    suite = stestr.Suite(
        options.label('performance'), venv, tree, folder=FOLDER
    )
    report = suite.run(options.expression, concurrency=options.concurrency)
    return report.result
