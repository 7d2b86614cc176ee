# SPDX-License-Identifier: Apache-2.0

"""Tests of the tooling that start or install Keystone.

They take minutes, and what they show changes only with the tooling.
"""

from patchset import paths
from patchset.test_parts import stestr

PACKAGES = ('test', 'integration', 'functional')
FOLDER = 'patchset/tests/functional'


def run(options):
    return stestr.run(options, 'functional', paths.ROOT, folder=FOLDER).result
