# SPDX-License-Identifier: Apache-2.0

"""Where things stand in the repository and in its ignored folders."""

import os
import pathlib

ROOT = pathlib.Path(__file__).resolve().parent.parent

# Everything made, as opposed to written, is below BUILD or DIST.
BUILD = pathlib.Path(os.environ.get('KS_BUILD_DIR', ROOT / 'build')).resolve()
DIST = ROOT / 'dist'
PATCHES = ROOT / 'patches'
REQUIREMENTS = ROOT / 'requirements'
SCRIPTS = ROOT / 'patchset' / 'tree_scripts'


def pristine(version):
    """Folder of the unpacked, untouched upstream source of ``version``."""
    return BUILD / 'upstream' / f'keystone-{version}'


def assembled(release):
    """Folder of the patched tree of ``release``, a git work tree."""
    return BUILD / release
