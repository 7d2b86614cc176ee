# SPDX-License-Identifier: Apache-2.0

"""Build the wheel that is installed over stock Keystone with pip.

The build is reproducible: the same inputs give the same bytes. The sha256 and
a list of components (CycloneDX 1.5) are written beside the wheel.
"""

import calendar
import email.utils
import os
import pathlib
import shutil
import sys
import tempfile

from patchset import arguments
from patchset import assemble
from patchset import egg_info
from patchset import git
from patchset import paths
from patchset import process
from patchset import progress
from patchset import sbom
from patchset import upstream


def add_arguments(parser):
    """Add this command's arguments."""
    arguments.add_release(parser)


def run(args):
    """Build, and print the paths written and the wheel's sha256."""
    pin = arguments.pin(args)
    path = wheel(assemble.ensure(pin), pin, paths.DIST)
    for one in (path, *sbom.write(path, pin)):
        progress.say(f'{one}')
    progress.say(f'sha256 {upstream.sha256(path)}')


def wheel(tree, pin, folder):
    """Build the wheel of an assembled tree; the same bytes each time.

    :param tree: folder of the assembled tree
    :param pin: a :class:`patchset.pins.Pin`
    :param folder: where the wheel goes; one of the same name is replaced
    :returns: path of the wheel
    """
    last = git.git(tree, 'show', '-s', '--format=%cD').strip()
    os.umask(0o022)  # file modes are part of the bytes
    epoch = calendar.timegm(email.utils.parsedate(last))
    with tempfile.TemporaryDirectory() as temporary:
        # A clone holds what is committed and nothing that a test run left.
        clone = pathlib.Path(temporary) / 'keystone'
        git.git(tree, 'clone', '--quiet', '--shared', '--no-tags', tree, clone)
        process.run(
            [
                sys.executable, '-m', 'pip', 'wheel', '--quiet', '--no-deps',
                '--disable-pip-version-check', '--no-build-isolation',
                '--wheel-dir', f'{temporary}/dist', clone,
            ],
            env={
                **egg_info.pbr_variables(pin.local_version),
                'SOURCE_DATE_EPOCH': str(epoch),
                'PYTHONHASHSEED': '0',
            },
            what='building the wheel',
        )  # fmt: skip
        built = next(pathlib.Path(temporary, 'dist').glob('*.whl'))
        folder.mkdir(parents=True, exist_ok=True)
        return pathlib.Path(shutil.copy(built, folder))
