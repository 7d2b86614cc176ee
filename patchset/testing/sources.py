# Licensed under the Apache License, Version 2.0 (the "License"); you may
# not use this file except in compliance with the License. You may obtain
# a copy of the License at
#
#      http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the
# License for the specific language governing permissions and limitations
# under the License.


"""The repository's own files, by kind."""

from patchset import paths
from patchset import process

_SHELL = ('sh', 'bash')


def files(root=paths.ROOT):
    """Paths below the repository that git tracks, or would if asked to.

    :param root: folder of the repository
    :returns: sorted list of paths; ignored and deleted files are left out
    """
    listing = process.run(
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
