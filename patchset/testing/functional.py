# SPDX-License-Identifier: Apache-2.0

"""Tests of the tooling that start or install Keystone.

They take minutes, and what they show changes only with the tooling.
"""

from patchset import environment
from patchset import errors
from patchset import paths
from patchset.testing import stestr

PACKAGES = ('test', 'live')  # profiles of bindep.txt
FOLDER = 'patchset/functional'


def run(options):
    """Run the part.

    :param options: a :class:`patchset.testing.options.Options`
    :returns: a :class:`patchset.testing.results.Result`
    """
    if options.stock:
        raise errors.UsageError('functional: the stock tree is not tested')
    venv = environment.Environment(options.pin.release, 'test').ensure()
    suite = stestr.Suite('functional', venv, paths.ROOT, folder=FOLDER)
    return suite.run(
        options.expression, concurrency=options.concurrency
    ).result
