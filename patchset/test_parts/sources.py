# SPDX-License-Identifier: Apache-2.0

"""The repository's own files, by kind."""

from patchset import child
from patchset import paths

_SHELL = ('sh', 'bash')


def files(root=paths.ROOT):
    """Paths below the repository that git tracks, or would if asked to.

    :param root: folder of the repository
    :returns: sorted list of paths; ignored and deleted files are left out
    """
    listing = child.run(
        ['git', 'ls-files', '-z', '-co', '--exclude-standard'], cwd=root
    )
    found = {root / name for name in listing.split('\0') if name}
    return sorted(path for path in found if path.is_file())


def python(found):
    """Those of the paths that are Python, by suffix or by first line."""
    return [
        path
        for path in found
        if path.suffix == '.py' or interpreter(path).startswith('python')
    ]


def shell(found, root=paths.ROOT):
    """Those of the paths that are shell.

    DevStack sources the files of ``devstack/``, so that they need neither
    suffix nor first line.
    """
    return [
        path
        for path in found
        if path.suffix == '.sh'
        or interpreter(path) in _SHELL
        or (not path.suffix and path.is_relative_to(root / 'devstack'))
    ]


def interpreter(path):
    """Name of the program in a file's first line, or an empty string."""
    with open(path, 'rb') as source:
        first = source.readline(80).decode(errors='replace')
    words = first.removeprefix('#!').replace('/', ' ').split()
    return words[-1] if first.startswith('#!') and words else ''
