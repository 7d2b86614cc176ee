# SPDX-License-Identifier: Apache-2.0

"""The pinned upstream source: fetched once, checked, unpacked."""

import hashlib
import re
import shutil
import sys
import tarfile

from patchset import child
from patchset import errors
from patchset import locking
from patchset import paths
from patchset import progress


def ensure(pin):
    """Return the folder of the pristine source, fetching it if need be.

    The archive is kept beside it and checked against the pin each time.

    :param pin: a :class:`patchset.pins.Pin`
    :raises patchset.errors.Error: no network, or the wrong sha256
    """
    archive = paths.BUILD / 'upstream' / pin.file
    with locking.exclusive(archive):
        if not archive.is_file():
            try:
                _download(
                    f'keystone=={pin.version} --hash=sha256:{pin.sha256}',
                    archive,
                    '--require-hashes',
                )
            except errors.Error as error:
                raise _explained(pin, str(error))
        _verify(pin, archive)
        folder = paths.pristine(pin.version)
        if not folder.is_dir():
            _unpack(archive, folder)
        return folder


def fetch(version):
    """Fetch a version that has no pin yet, to make one.

    :returns: path of the archive, with an unverified sha256
    :raises patchset.errors.Error: there is no such version, or no network
    """
    archive = paths.BUILD / 'upstream' / f'keystone-{version}.tar.gz'
    with locking.exclusive(archive):
        if not archive.is_file():
            _download(f'keystone=={version}', archive)
    return archive


def sha256(path):
    """Hexadecimal SHA-256 of a file."""
    with open(path, 'rb') as source:
        return hashlib.file_digest(source, 'sha256').hexdigest()


def _verify(pin, archive):
    found = sha256(archive)
    if found != pin.sha256:
        raise errors.Error(
            f'{pin.file}: wrong sha256: the pin of {pin.release} says '
            f'{pin.sha256}, the file {archive} has {found}; nothing was '
            f'unpacked; fix the pin or remove that file'
        )


def _download(requirement, archive, *options):
    # pip finds the archive, so that a mirror, a proxy or an index of the
    # user's own in pip's configuration is honoured; it checks the hash
    # before it opens the archive.
    with (
        progress.stage(f'fetching {archive.name}'),
        paths.temporary(parent=archive.parent) as folder,
    ):
        child.run(
            [
                sys.executable, '-m', 'pip', 'download', '--quiet',
                '--no-input', '--disable-pip-version-check', '--no-deps',
                '--no-build-isolation', '--no-binary', 'keystone',
                '--dest', folder, *options, '--requirement', '/dev/stdin',
            ],
            stdin=f'{requirement}\n',
            env={'TMPDIR': folder},
            what='pip download',
        )  # fmt: skip
        shutil.move(folder / archive.name, archive)


def _explained(pin, message):
    got = re.search(r'Got +([0-9a-f]{64})', message)
    if got:
        return errors.Error(
            f'{pin.file}: wrong sha256: the pin of {pin.release} says '
            f'{pin.sha256}, the package index gives {got[1]}; nothing was '
            f'kept'
        )
    return errors.Error(
        f'could not fetch {pin.file}: is the package index reachable? '
        f'({message})'
    )


def _unpack(archive, folder):
    with paths.temporary(parent=folder.parent) as temporary:
        with tarfile.open(archive) as source:
            # Python 3.11.4 and newer ask for a filter; its content is pinned.
            source.extraction_filter = getattr(tarfile, 'data_filter', None)
            source.extractall(temporary)
        shutil.move(temporary / folder.name, folder)
