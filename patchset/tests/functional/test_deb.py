# SPDX-License-Identifier: Apache-2.0

"""Tests of the packages for Debian."""

import pathlib
import subprocess

from patchset import deb
from patchset import errors
from patchset import git
from patchset.tests.unit import base

_CONTROL = """\
Package: {name}
Version: 2:{version}-1
Architecture: all
Maintainer: Somebody <somebody@example.org>
Depends: {depends}
Description: a package of the distribution
"""
SITE = 'usr/lib/python3/dist-packages'


class DebTestCase(base.RepositoryTestCase):
    def package(self, name, version, depends, source=None):
        """Path of a package as a distribution has it."""
        folder = self.root / 'packages' / name
        (folder / 'DEBIAN').mkdir(parents=True)
        (folder / 'DEBIAN' / 'control').write_text(
            _CONTROL.format(name=name, version=version, depends=depends)
        )
        if source:
            (folder / SITE).mkdir(parents=True)
            subprocess.run(
                ['cp', '-r', source / 'keystone', folder / SITE], check=True
            )
        path = self.root / f'{name}.deb'
        subprocess.run(
            ['dpkg-deb', '-b', folder, path],
            check=True,
            stdout=subprocess.DEVNULL,
        )
        return path

    def field(self, path, name):
        return subprocess.check_output(
            ['dpkg-deb', '-f', path, name], text=True
        ).strip()

    def test_the_topics_and_the_version(self):
        version = self.pin.version
        packages = [
            self.package('python3-keystone', version, 'python3', self.source),
            self.package(
                'keystone', version, f'python3-keystone (= 2:{version}-1)'
            ),
        ]
        library, service = deb.build(packages, self.root / 'out')
        patched = f'2:{version}-1+revcache{self.pin.build}'
        for path in (library, service):
            self.assertEqual(patched, self.field(path, 'Version'))
        self.assertEqual(
            f'python3-keystone (= {patched})', self.field(service, 'Depends')
        )
        self.assertIn('python3-cachetools, ', self.field(library, 'Depends'))
        unpacked = self.root / 'unpacked'
        subprocess.run(['dpkg-deb', '-x', library, unpacked], check=True)
        tree = self.assemble()
        names = set(git.names(tree, 'ls-files', '-z', 'keystone'))
        found = {
            path.relative_to(unpacked / SITE).as_posix(): path
            for path in (unpacked / SITE).rglob('*')
            if path.is_file()
        }
        self.assertEqual(names, set(found))
        for name, path in found.items():
            self.assertEqual((tree / name).read_bytes(), path.read_bytes())

    def test_a_version_without_topics(self):
        path = self.package('python3-keystone', '22.0.2', 'python3')
        error = self.assertRaises(
            errors.Error, deb.build, [path], pathlib.Path(self.root / 'out')
        )
        self.assertIn('Keystone 22.0.2, to which the', str(error))
        self.assertIn(self.pin.version, str(error))

    def test_adapted_patches_are_of_topics(self):
        for folder in deb.ADAPTED.iterdir():
            pin = deb.pin_for(folder.name)
            self.use(pin.release)
            names = {topic.path.name for topic in self.topics()}
            self.assertLessEqual(
                {path.name for path in folder.iterdir()}, names
            )
