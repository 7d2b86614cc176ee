# SPDX-License-Identifier: Apache-2.0

"""Which upstream source each release is pinned to."""

import dataclasses
import re

from patchset import errors
from patchset import paths

_FIELDS = {
    'version': r'[0-9]+(\.[0-9]+)+',
    'file': r'[a-z0-9.-]+\.tar\.gz',
    'sha256': r'[0-9a-f]{64}',
    'build': r'[1-9][0-9]*',
}


@dataclasses.dataclass(frozen=True)
class Pin:
    """One release: the source it is made from, and our build number."""

    release: str
    version: str
    file: str
    sha256: str
    build: int

    @property
    def local_version(self):
        """Version of the patched package, as in PEP 440."""
        return f'{self.version}+revcache.{self.build}'


def releases(patches=paths.PATCHES):
    """Names of the maintained releases, oldest first."""
    return sorted(path.parent.name for path in patches.glob('*/UPSTREAM'))


def newest(patches=paths.PATCHES):
    """Name of the release that commands use unless told otherwise."""
    return releases(patches)[-1]


def write(pin, patches=paths.PATCHES):
    """Write the UPSTREAM file of a release."""
    folder = patches / pin.release
    folder.mkdir(exist_ok=True)
    (folder / 'UPSTREAM').write_text(
        f"# The upstream release that this folder's series applies to.\n"
        f'version: {pin.version}\nfile: {pin.file}\nsha256: {pin.sha256}\n'
        f'# Number of our build of it: the N of keystone-{pin.version}'
        f'+revcache.N.\nbuild: {pin.build}\n'
    )


def load(release, patches=paths.PATCHES):
    """Read the pin of a release.

    :raises patchset.errors.Error: no such release, or a field of its
        UPSTREAM file is missing, unknown or malformed
    """
    path = patches / release / 'UPSTREAM'
    if not path.is_file():
        known = ', '.join(releases(patches)) or 'none'
        raise errors.UsageError(f'no release {release}; there are: {known}')
    fields = {}
    for line in path.read_text().splitlines():
        if not line.strip() or line.startswith('#'):
            continue
        name, _, value = (part.strip() for part in line.partition(':'))
        if name not in _FIELDS:
            raise errors.Error(f'{path}: unknown field {name!r}')
        if not re.fullmatch(_FIELDS[name], value):
            raise errors.Error(f'{path}: {name} is malformed: {value!r}')
        fields[name] = value
    missing = ', '.join(name for name in _FIELDS if name not in fields)
    if missing:
        raise errors.Error(f'{path}: missing: {missing}')
    fields['build'] = int(fields['build'])
    return Pin(release=release, **fields)
