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

"""The tooling's own tests, and the unit tests that the patch set adds."""

from patchset import environment
from patchset import errors
from patchset import paths
from patchset import progress
from patchset import trees
from patchset.testing import results
from patchset.testing import stestr

PACKAGES = ('test',)  # profiles of bindep.txt
FOLDER = 'keystone/tests/unit'


def run(options):
    """Run the part.

    :param options: a :class:`patchset.testing.options.Options`
    :returns: a :class:`patchset.testing.results.Result`
    """
    if options.stock:
        raise errors.UsageError('unit: the stock tree has no tests of ours')
    venv = environment.Environment(options.pin.release, 'test').ensure()
    tree = trees.get(options.pin)
    total = results.Result()
    for name, suite in {
        'tooling': stestr.Suite(
            'unit-tooling', venv, paths.ROOT, folder='patchset/tests'
        ),
        'overlay': stestr.Suite(
            options.label('unit'), venv, tree,
            modules=added(tree, trees.get(options.pin, stock=True)),
            quick=True,
        ),
    }.items():  # fmt: skip
        report = suite.run(options.expression, concurrency=options.concurrency)
        progress.say(f'unit, {name}: {report.result}')
        total += report.result
    return total


def added(tree, stock):
    """Names of the unit-test modules of a tree that stock has not."""
    names = set()
    for path in (tree / FOLDER).rglob('test_*.py'):
        module = path.relative_to(tree)
        if not (stock / module).exists():
            names.add('.'.join(module.with_suffix('').parts))
    return names
