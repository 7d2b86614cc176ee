# SPDX-License-Identifier: Apache-2.0

"""Unit tests of the tooling and of the patch set."""

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
        raise errors.UsageError('unit: not available with --stock')
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
