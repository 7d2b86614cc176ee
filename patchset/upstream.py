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
    folder = paths.pristine(pin.version)
    locking.once(archive, archive.is_file, _fetch, pin, archive)
    _verify(pin, archive)
    locking.once(folder, folder.is_dir, _unpack, archive, folder)
    return folder


def fetch(version):
    """Fetch a version that has no pin yet, to make one.

    :returns: path of the archive, with an unverified sha256
    :raises patchset.errors.Error: there is no such version, or no network
    """
    archive = paths.BUILD / 'upstream' / f'keystone-{version}.tar.gz'
    wanted = f'keystone=={version}'
    locking.once(archive, archive.is_file, _download, wanted, archive)
    return archive


def sha256(path):
    """Hexadecimal SHA-256 of a file."""
    with open(path, 'rb') as source:
        return hashlib.file_digest(source, 'sha256').hexdigest()


def _fetch(pin, archive):
    wanted = f'keystone=={pin.version} --hash=sha256:{pin.sha256}'
    try:
        _download(wanted, archive)
    except errors.Error as error:
        got = re.search(r'Got +([0-9a-f]{64})', str(error))
        if got:
            found = f'the package index gives {got[1]}; nothing was kept'
            raise _wrong_sha256(pin, found)
        raise errors.Error(
            f'could not fetch {pin.file}: is the package index reachable? '
            f'({error})'
        )


def _verify(pin, archive):
    if (found := sha256(archive)) != pin.sha256:
        raise _wrong_sha256(
            pin,
            f'the file {archive} has {found}; nothing was unpacked; fix the '
            f'pin or remove that file',
        )


def _wrong_sha256(pin, found):
    return errors.Error(
        f'{pin.file}: wrong sha256: the pin of {pin.release} says '
        f'{pin.sha256}, {found}'
    )


def _download(requirement, archive):
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
                '--dest', folder, '--requirement', '/dev/stdin',
            ],
            stdin=f'{requirement}\n',
            env={'TMPDIR': folder},
            what='pip download',
        )  # fmt: skip
        shutil.move(folder / archive.name, archive)


def _unpack(archive, folder):
    with paths.temporary(parent=folder.parent) as temporary:
        with tarfile.open(archive) as source:
            # Python 3.11.4 and newer ask for a filter; its content is pinned.
            source.extraction_filter = getattr(tarfile, 'data_filter', None)
            source.extractall(temporary)
        shutil.move(temporary / folder.name, folder)
