# SPDX-License-Identifier: Apache-2.0

"""The virtual environments that Keystone, its tests and tools run in.

Each is made from a lock file of this project (``requirements/``), with
hashes, so that two runs a year apart install the same. Keystone itself is
never installed in them: a tree is put on the module path instead.
"""

import hashlib
import os
import shutil
import sys

from patchset import child
from patchset import locking
from patchset import paths
from patchset import progress
from patchset import system


class Environment:
    """One virtual environment, made of one lock file.

    :param release: release whose lock it is, such as ``2026.2``; empty for
        that of the tooling, which needs no package that ``./ks`` itself does
        not need
    :param name: name of the lock: run, test, tempest, docs, lint or tools
    """

    def __init__(self, release, name):
        self.lock = paths.REQUIREMENTS / release / f'{name}.txt'
        self.packages = [name] if release else []  # profiles of bindep.txt
        version = '{}.{}'.format(*sys.version_info)
        digest = hashlib.sha256(self.lock.read_bytes()).hexdigest()[:12]
        # A changed lock makes a new folder: the old one may be in use.
        self.path = (
            paths.BUILD / 'venv'
        ).resolve() / f'{release or "ks"}-{name}-py{version}-{digest}'
        self.bin = self.path / 'bin'
        self.python = self.bin / 'python'

    def ensure(self):
        """Make or update the environment; return self.

        :raises patchset.errors.NotInstalled: a system package is missing
        :raises patchset.errors.Error: the lock's packages cannot be had, or
            do not match their hashes
        """
        locking.once(self.path, self._complete, self._make)
        return self

    def _complete(self):
        """Whether it was made to the end, and here.

        Its scripts name its path, so they do not work in a copy of it.
        """
        try:
            made = (self.path / 'complete').read_text()
        except FileNotFoundError:
            return False
        return made == str(self.path) and self.python.is_file()

    def _make(self):
        if self.packages:
            system.ensure(*self.packages)
        lock = self.lock.relative_to(paths.ROOT)
        shutil.rmtree(self.path, ignore_errors=True)
        with (
            progress.stage(f'installing {lock}'),
            # What pip leaves when it is interrupted is removed with it.
            paths.temporary(parent=self.path.parent) as temporary,
        ):
            env = {'TMPDIR': temporary}
            child.run([sys.executable, '-m', 'venv', self.path], env=env)
            # Nothing is compiled in advance: programs look for compiled files
            # elsewhere, see variables().
            child.run(
                [
                    self.python, '-m', 'pip', 'install', '--quiet',
                    '--no-input', '--disable-pip-version-check', '--no-deps',
                    '--require-hashes', '--no-compile',
                    '--requirement', self.lock,
                ],
                env=env,
                what=f'installing {lock} from the package index',
            )  # fmt: skip
        (self.path / 'complete').write_text(str(self.path))

    def variables(self, tree):
        """Variables under which programs of this environment see a tree."""
        return {
            'PYTHONPATH': str(tree),
            # Compiled files beside, not in, the trees; a user's shell may
            # disable them, and each start would compile everything again.
            'PYTHONPYCACHEPREFIX': str(paths.BUILD / 'pycache'),
            'PYTHONDONTWRITEBYTECODE': '',
            'PATH': f'{self.bin}{os.pathsep}{os.environ["PATH"]}',
            'VIRTUAL_ENV': str(self.path),
        }
