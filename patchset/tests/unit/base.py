# SPDX-License-Identifier: Apache-2.0

"""What the tooling's tests share: a copy of the repository to spoil."""

import os
import pathlib
import re
import shutil
import subprocess

import fixtures
import testtools

from patchset import assemble
from patchset import export
from patchset import paths
from patchset import pins
from patchset import series
from patchset import upstream

_COPIED = (
    'bench', 'bindep.txt', 'keystone', 'ks', 'patches', 'patchset',
    'releasenotes', 'requirements',
)  # fmt: skip


# The hunks of these are where they would be without the others.
FEW = (
    'user-without-enabled',
    'service-deleted',
    'revoke-match-every-attribute',
    'request-local-cache',
    'auth-context-per-request',
)


class RepositoryTestCase(testtools.TestCase):
    """A test on a copy of this repository and the real upstream source.

    ``root`` is the copy, ``source`` the pristine source, ``pin`` the newest
    release's, ``series`` the file that lists its last topics.
    """

    def setUp(self):
        super().setUp()
        self.root = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        for name in _COPIED:
            copy = shutil.copytree
            if (paths.ROOT / name).is_file():
                copy = shutil.copy
            if (paths.ROOT / name).exists():
                copy(paths.ROOT / name, self.root / name)
        self.use(pins.newest())

    def use(self, release):
        """From now on, ``pin`` and the others are of that release."""
        self.pin = pins.load(release)
        self.source = upstream.ensure(self.pin)
        self.patches = self.root / 'patches' / release
        self.series = self.patches / [*series.STACKS][-1] / 'series'

    def without_other_releases(self):
        """Make the copy one that has a single release."""
        for path in self.patches.parent.iterdir():
            if path != self.patches:
                shutil.rmtree(path)

    def topics(self):
        """The topics of the copy."""
        return series.load(self.pin.release, self.root / 'patches')

    def only(self, *names):
        """Leave some topics in the copy, with those that they depend on.

        The release is the only one then, and whatever takes time with each
        topic takes less.
        """
        self.without_other_releases()
        topics = self.topics()
        wanted = export.closure(topics, names)
        files = set()
        listed = dict.fromkeys(series.STACKS, '')
        for topic in topics:
            if topic.name in wanted:
                files.update(topic.adds)
                listed[topic.stack] += f'{topic.path.name}\n'
            else:
                topic.path.unlink()
        for stack, lines in listed.items():
            (self.patches / stack / 'series').write_text(lines)
        for path in (self.root / 'keystone').rglob('*'):
            if path.is_file():
                if path.relative_to(self.root).as_posix() not in files:
                    path.unlink()

    def few(self):
        """Leave few topics: some with hunks, some with files of their own."""
        self.only(*FEW)

    def assemble(self):
        """Assemble the copy's topics in a folder of their own.

        A copy of the tree that this repository's own ``./ks`` has assembled
        does, where that is of the same patches and overlay files.
        """
        tree = self.root / f'tree-{self.pin.release}'
        topics = self.topics()
        made = assemble.ensure(self.pin)
        inputs = assemble.digest(self.pin, topics, self.root)
        if assemble.read_mark(made, 'inputs') == inputs:
            shutil.copytree(made, tree)
        else:
            assemble.build(self.pin, self.source, topics, tree, self.root)
        return tree

    def with_hunks(self):
        """The copy's first topic that changes an upstream file."""
        return next(topic for topic in self.topics() if topic.diff)

    def substitute(self, path, pattern, text, count=1):
        """Replace a pattern in a file; the pattern must be there."""
        before = path.read_text()
        after = re.sub(pattern, text, before, count=count, flags=re.M)
        self.assertNotEqual(before, after)
        path.write_text(after)

    def ks(self, *arguments):
        """Run the copy's ``./ks``; return the finished process.

        It has a build folder of its own, but for the environments and the
        upstream source.
        """
        build = self.root / 'build'
        build.mkdir(exist_ok=True)
        for name in ('venv', 'upstream'):
            if not (build / name).exists():
                (build / name).symlink_to(paths.BUILD / name)
        environment = {**os.environ, 'KS_BUILD_DIR': str(build)}
        environment.pop('PYTHONPATH', None)
        return subprocess.run(
            [self.root / 'ks', *arguments],
            env=environment,
            capture_output=True,
            text=True,
            timeout=300,
        )
