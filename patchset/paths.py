# SPDX-License-Identifier: Apache-2.0

"""Where things stand in the repository and in its ignored folders."""

import contextlib
import os
import pathlib
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent

# Everything made, as opposed to written, is below BUILD or DIST.
BUILD = pathlib.Path(os.environ.get('KS_BUILD_DIR', ROOT / 'build')).resolve()
DIST = ROOT / 'dist'
PATCHES = ROOT / 'patches'
REQUIREMENTS = ROOT / 'requirements'
SCRIPTS = ROOT / 'patchset' / 'tree_scripts'


@contextlib.contextmanager
def temporary(prefix='ks-', parent=None, mode=0o700):
    """A temporary folder, which is removed at the end of the block.

    :param parent: path of the folder to make it in
    :param mode: its permissions; other users that servers run as need some
    """
    with tempfile.TemporaryDirectory(
        prefix=prefix, dir=parent, ignore_cleanup_errors=True
    ) as name:
        path = pathlib.Path(name)
        path.chmod(mode)
        yield path


def pristine(version):
    """Folder of the unpacked, untouched upstream source of ``version``."""
    return BUILD / 'upstream' / f'keystone-{version}'


def assembled(release):
    """Folder of the patched tree of ``release``, a git work tree."""
    return BUILD / release
