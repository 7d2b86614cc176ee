# SPDX-License-Identifier: Apache-2.0

"""Performance tests of the patch set, which count operations."""

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
        raise errors.UsageError('performance: not available with --stock')
    venv = environment.Environment(options.pin.release, 'test').ensure()
    tree = trees.get(options.pin)
    if not (tree / FOLDER).is_dir():
        return results.Result()
    suite = stestr.Suite(
        options.label('performance'), venv, tree, folder=FOLDER
    )
    report = suite.run(options.expression, concurrency=options.concurrency)
    return report.result
