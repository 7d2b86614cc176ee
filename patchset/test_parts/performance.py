# SPDX-License-Identifier: Apache-2.0

"""Performance tests of the patch set, which count operations."""

from patchset.test_parts import stestr

PACKAGES = ('test',)
FOLDER = 'keystone/tests/unit/performance'


def run(options):
    return stestr.run(options, 'performance', folder=FOLDER).result
