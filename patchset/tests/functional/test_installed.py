# SPDX-License-Identifier: Apache-2.0

"""Tests of the wheel of each release, beside stock's dependencies."""

import dataclasses
import pathlib
import shutil
import venv

import fixtures
import testscenarios
import testtools

from patchset import assemble
from patchset import child
from patchset import client
from patchset import deployment
from patchset import environment
from patchset import git
from patchset import paths
from patchset import pins
from patchset.commands import build
from patchset.services import server
from patchset.tests.functional import test_deployment

_VERSION = 'import importlib.metadata as m; print(m.version("keystone"))'


class Installed:
    """A fresh environment with the packages of a lock and no Keystone.

    The packages are those of the environment that was made of the lock, put
    on the module path. Keystone is installed by pip, and found by that
    alone.
    """

    def __init__(self, release, folder):
        locked = environment.Environment(release, 'run').ensure()
        venv.create(folder, with_pip=True)
        self.bin = folder / 'bin'
        self.python = self.bin / 'python'
        self.packages = next(folder.glob('lib/python*/site-packages'))
        beside = next(locked.path.glob('lib/python*/site-packages'))
        (self.packages / 'locked.pth').write_text(f'{beside}\n')
        program = (locked.bin / 'uwsgi').read_text().partition('\n')[2]
        (self.bin / 'uwsgi').write_text(f'#!{self.python}\n{program}')
        (self.bin / 'uwsgi').chmod(0o755)

    def variables(self, tree):
        return {
            'PYTHONPATH': '',
            'PYTHONPYCACHEPREFIX': str(paths.BUILD / 'pycache'),
            'VIRTUAL_ENV': str(self.bin.parent),
        }

    def install(self, *arguments):
        """Install with pip, without an index; return Keystone's version.

        :raises patchset.errors.Error: pip fails, or a package that one
            requires is not there in a version that it can use
        """
        child.run(
            [
                self.python, '-m', 'pip', 'install', '--quiet', '--no-deps',
                '--no-index', '--no-compile', *arguments,
            ],
        )  # fmt: skip
        child.run([self.python, '-m', 'pip', 'check'])
        return child.run([self.python, '-c', _VERSION]).strip()

    def files(self):
        """Names of the files of the package keystone, compiled ones not."""
        folder = self.packages / 'keystone'
        return {
            str(path.relative_to(self.packages))
            for path in folder.rglob('*')
            if path.is_file() and path.suffix != '.pyc'
        }

    def programs(self):
        """Names of the programs that Keystone has put there."""
        return {path.name for path in self.bin.glob('keystone-*')}


# One test of each for each release, by which it can be chosen.
load_tests = testscenarios.load_tests_apply_scenarios


class InstalledTestCase(testtools.TestCase):
    """Stock, then patched, then stock, on one database."""

    scenarios = [(name, {'release': name}) for name in pins.releases()]

    def setUp(self):
        super().setUp()
        self.root = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        # Compiled files of what is installed there.
        compiled = paths.BUILD / 'pycache' / self.root.relative_to('/')
        self.addCleanup(shutil.rmtree, compiled, ignore_errors=True)
        self.pin = pins.load(self.release)
        self.installed = Installed(self.release, self.root / 'venv')
        tree = assemble.ensure(self.pin)
        self.patched = build.wheel(tree, self.pin, self.root / 'patched')
        clone = self.root / 'clone'
        git.git(tree, 'clone', '--quiet', '--shared', tree, clone)
        git.git(clone, 'checkout', '--quiet', assemble.BASE)
        self.stock = build.wheel(
            clone, _Stock(self.pin.version), self.root / 'stock'
        )

    def lives(self):
        """Serve what is installed; statuses of one token's life."""
        keystone = deployment.Deployment(
            self.installed.packages,
            self.installed,
            self.root / 'state',
            port=self.port,
            options={'identity': {'password_hash_rounds': 4}},
        )
        with keystone:
            admin = client.password(keystone.password)
            return test_deployment.life(client.Client(keystone.port), admin)

    def test_over_stock_and_back(self):
        self.port = server.free_port()
        back = (
            '--find-links', self.stock.parent,
            f'keystone==={self.pin.version}',
        )  # fmt: skip
        well = test_deployment.LIFE

        self.assertEqual(self.pin.version, self.installed.install(*back))
        files = self.installed.files()
        programs = self.installed.programs()
        self.assertIn('keystone-manage', programs)
        self.assertEqual(well, self.lives())

        self.assertEqual(
            self.pin.local_version, self.installed.install(self.patched)
        )
        self.assertIn('keystone/revoke/token_chain.py', self.installed.files())
        self.assertEqual(programs, self.installed.programs())
        self.assertEqual(well, self.lives())

        self.assertEqual(self.pin.version, self.installed.install(*back))
        self.assertEqual(files, self.installed.files())
        self.assertEqual(programs, self.installed.programs())
        self.assertEqual(well, self.lives())


@dataclasses.dataclass
class _Stock:
    """A pin under which the wheel has upstream's own version."""

    local_version: str
