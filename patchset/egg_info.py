# SPDX-License-Identifier: Apache-2.0

"""Package metadata of a tree, so that its entry points can be found."""

import sys

from patchset import process

_SETUP = 'import setuptools; setuptools.setup(pbr=True)'


def pbr_variables(version):
    """Variables under which pbr takes a version and asks git for nothing."""
    return {
        'PBR_VERSION': version,
        'SKIP_GENERATE_AUTHORS': '1',
        'SKIP_GENERATE_RENO': '1',
        'SKIP_WRITE_GIT_CHANGELOG': '1',
    }


def write(tree, version):
    """Write ``keystone.egg-info`` of a tree again."""
    process.run(
        [sys.executable, '-c', _SETUP, '--quiet', 'egg_info'],
        cwd=tree,
        env=pbr_variables(version),
        what='reading the package metadata',
    )
