# SPDX-License-Identifier: Apache-2.0

"""Documentation and release notes, built with warnings as errors."""

import contextlib
import shutil

from patchset import child
from patchset import environment
from patchset import git
from patchset import paths
from patchset import pins
from patchset import progress
from patchset.test_parts import checks
from patchset.test_parts import sources

PACKAGES = ()
OUTPUT = paths.BUILD / 'docs'


def run(options):
    """Build what the expression matches."""
    where = environment.Environment(pins.newest(), 'docs').ensure()
    with history(paths.ROOT) as root:
        return checks.run(plan(where.bin, root), options.expression)


@contextlib.contextmanager
def history(root):
    """A folder with the repository whose history goes back to its start.

    reno asks the history which note is new. It cannot read a shallow clone:
    a copy with all files in one commit takes its place.
    """
    shallow = ['git', 'rev-parse', '--is-shallow-repository']
    if child.run(shallow, cwd=root).strip() != 'true':
        yield root
        return
    progress.step('a shallow clone: release notes get no versions')
    with paths.temporary() as folder:
        copy = folder / 'repository'
        for path in sources.files(root):
            target = copy / path.relative_to(root)
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(path, target)
        git.git(copy, 'init', '--quiet')
        git.git(copy, 'add', '--all')
        git.commit(copy, 'All files\n')
        yield copy


def plan(programs, root=paths.ROOT, output=OUTPUT):
    """The checks of the documentation.

    :param programs: folder of the documentation programs
    :param output: folder that receives ``html/`` and ``releasenotes/``
    :returns: {name: check}
    """

    def sphinx(name, source):
        # Rebuild everything each time: an unchanged page could otherwise
        # keep its warnings to itself, and miss a new release note.
        return checks.program(
            [
                programs / 'sphinx-build', '-q', '-W', '--keep-going',
                '-E', '-a', '-b', 'html', '-d', output / 'doctrees' / name,
                source, output / name,
            ],
            cwd=root,
        )  # fmt: skip

    return {
        'html': sphinx('html', 'doc/source'),
        'releasenotes lint': checks.program(
            [programs / 'reno', 'lint'], cwd=root
        ),
        'releasenotes': sphinx('releasenotes', 'releasenotes/source'),
    }
