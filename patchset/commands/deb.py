# SPDX-License-Identifier: Apache-2.0

"""Build patched packages from those of Debian.

The distribution's packages python3-keystone and keystone are downloaded by
apt, or given as files. They are unpacked, patched and packed again, with a
version just above their own, so that its later updates replace them. The
topics are those of the release with their version of upstream.
"""

import hashlib
import os
import pathlib
import re

from patchset import assemble
from patchset import child
from patchset import errors
from patchset import paths
from patchset import pins
from patchset import progress
from patchset import series

NAMES = ('python3-keystone', 'keystone')
# Patches for a version of upstream that none is pinned to; they take the
# place of those of the same name. One without a diff is not needed.
ADAPTED = paths.ROOT / 'contrib' / 'debian'
_SITE = 'usr/lib/python3/dist-packages'
_MARK = '+revcache'  # in the versions of the patched ones
# What the overlay imports, if the distribution's package does not need it.
_NEEDED = ('python3-cachetools', 'python3-prettytable')


def add_release(parser):
    """Nothing: the packages tell their release."""


def add_arguments(parser):
    parser.add_argument(
        'packages',
        nargs='*',
        metavar='FILE',
        type=pathlib.Path,
        help='packages of the distribution (default: downloaded by apt)',
    )


def run(args):
    """Build, and print the paths written."""
    with paths.temporary() as folder:
        packages = args.packages or download(folder)
        for path in build(packages, paths.DIST / 'deb'):
            progress.say(path)


def download(folder):
    """Get the distribution's packages by apt.

    :param folder: where they go
    :returns: list of their paths
    """
    child.run(
        [child.find('apt-get'), 'download', '-q', *map(_wanted, NAMES)],
        cwd=folder,
        what='downloading the packages of the distribution',
    )
    return sorted(folder.glob('*.deb'))


def _wanted(name):
    """The package and version to download, as apt-get takes it."""
    text = child.run(
        [child.find('apt-cache'), 'policy', name], env={'LC_ALL': 'C'}
    )
    candidate = re.search(r'^ *Candidate: (\d\S*)', text, re.M)
    if not candidate:
        return name  # which apt-get complains about
    # A patched one that is installed is in no archive; what it was made of is.
    return f'{name}={candidate[1].partition(_MARK)[0]}'


def build(packages, folder):
    """Build patched packages.

    :param packages: paths of the distribution's packages
    :param folder: where the patched ones go
    :returns: list of the paths written
    :raises patchset.errors.Error: there are no topics for their version
    """
    return [_one(path, folder) for path in packages]


def _one(path, folder):
    with paths.temporary() as temporary:
        root = temporary / 'root'
        child.run([child.find('dpkg-deb'), '-R', path, root])
        control = root / 'DEBIAN' / 'control'
        text = control.read_text()
        version = _field(text, 'Version')
        upstream = re.sub(r'^\d+:|-[^-]*$', '', version)
        pin = pin_for(upstream)
        patched = f'{version}{_MARK}{pin.build}'
        if (root / _SITE / 'keystone').is_dir():
            apply(root / _SITE, upstream, pin)
            depends = _field(text, 'Depends')
            every = dict.fromkeys((*_NEEDED, *depends.split(', ')))
            text = text.replace(
                f'\nDepends: {depends}', f'\nDepends: {", ".join(every)}'
            )
        # The Version, and the other package in Depends.
        control.write_text(text.replace(version, patched))
        _write_checksums(root)
        folder.mkdir(parents=True, exist_ok=True)
        name = f'{_field(text, "Package")}_{patched.partition(":")[2]}_all.deb'
        child.run(
            [
                child.find('dpkg-deb'), '--root-owner-group', '-b', root,
                folder / name,
            ],
            what=f'building {name}',
        )  # fmt: skip
        return folder / name


def _field(text, name):
    return re.search(rf'^{name}: (.*)$', text, re.M)[1]


def pin_for(upstream):
    """The pin whose topics apply to a version of upstream.

    :raises patchset.errors.Error: there is none
    """
    known = []
    for pin in map(pins.load, pins.releases()):
        known.append(pin.version)
        if upstream == pin.version or (
            upstream.partition('.')[0] == pin.version.partition('.')[0]
            and (ADAPTED / upstream).is_dir()
        ):
            return pin
    known += sorted(path.name for path in ADAPTED.iterdir())
    raise errors.Error(
        f'the distribution has Keystone {upstream}, to which the topics do '
        f'not apply; they do to: {", ".join(sorted(known))}'
    )


def apply(site, upstream, pin):
    """Put the topics into the folder that has the package ``keystone``.

    :param site: the folder
    :param upstream: version of upstream that it has
    """
    for topic in series.load(pin.release):
        adapted = ADAPTED / upstream / topic.path.name
        path = adapted if adapted.is_file() else topic.path
        if '\ndiff --git ' in path.read_text():
            child.run(
                ['git', 'apply', '--include=keystone/*', path],
                cwd=site,
                # No repository around the folder is meant.
                env={'GIT_CEILING_DIRECTORIES': str(site.parent)},
                what=f'applying {topic.name}',
            )
        for name in topic.adds:
            if name.startswith('keystone/'):
                assemble.add(site, topic, name, paths.ROOT)
                os.chmod(site / name, 0o644)


def _write_checksums(root):
    lines = []
    for path in sorted(root.rglob('*')):
        name = path.relative_to(root).as_posix()
        if path.is_file() and not name.startswith(('DEBIAN/', 'etc/')):
            digest = hashlib.md5(path.read_bytes(), usedforsecurity=False)
            lines.append(f'{digest.hexdigest()}  {name}\n')
    (root / 'DEBIAN' / 'md5sums').write_text(''.join(lines))
