# SPDX-License-Identifier: Apache-2.0

"""Performance tests of the patch set, which count operations."""

from patchset import trees
from patchset.testing import results
from patchset.testing import stestr

PACKAGES = ('test',)
FOLDER = 'keystone/tests/performance'


def run(options):
    """Run the part."""
    if not (trees.get(options.pin) / FOLDER).is_dir():
        return results.Result()
    return stestr.run(options, 'performance', folder=FOLDER).result
