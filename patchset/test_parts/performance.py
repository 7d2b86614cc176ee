# SPDX-License-Identifier: Apache-2.0

"""Performance tests of the patch set, which count operations."""

from patchset import assemble
from patchset.test_parts import results
from patchset.test_parts import stestr

PACKAGES = ('test',)
FOLDER = 'keystone/tests/unit/performance'


def run(options):
    if not (assemble.ensure(options.pin) / FOLDER).is_dir():
        return results.Result()
    return stestr.run(options, 'performance', folder=FOLDER).result
