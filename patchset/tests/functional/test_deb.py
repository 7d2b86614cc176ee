# SPDX-License-Identifier: Apache-2.0

"""Tests of the packages for Debian."""

import os
import pathlib
import subprocess

import fixtures

from patchset import errors
from patchset import git
from patchset.commands import deb
from patchset.tests.unit import base

_CONTROL = """\
Package: {name}
Version: 2:{version}-1
Architecture: all
Maintainer: Somebody <somebody@example.org>
Depends: {depends}
Description: a package of the distribution
"""
# Programs of apt, on a machine that may have the patched packages.
_APT_CACHE = """\
#!/bin/sh
echo "$2:"
echo '  Installed: (none)'
echo '  Candidate: {candidate}'
"""
_APT_GET = """\
#!/bin/sh
shift 2
echo "$@" >asked
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

    def asked_of_apt(self, candidate):
        """What is downloaded when apt would install a version."""
        programs = self.root / 'bin'
        programs.mkdir(exist_ok=True)
        for name, text in (('cache', _APT_CACHE), ('get', _APT_GET)):
            path = programs / f'apt-{name}'
            path.write_text(text.format(candidate=candidate))
            path.chmod(0o755)
        path = f'{programs}{os.pathsep}{os.environ["PATH"]}'
        self.useFixture(fixtures.EnvironmentVariable('PATH', path))
        deb.download(self.root)
        return (self.root / 'asked').read_text().split()

    def test_the_version_of_the_distribution_is_downloaded(self):
        version = '2:27.0.0-3+deb13u6'
        names = [f'python3-keystone={version}', f'keystone={version}']
        self.assertEqual(names, self.asked_of_apt(version))
        # The patched packages are installed, and nothing newer is there.
        self.assertEqual(names, self.asked_of_apt(f'{version}+revcache1'))
        self.assertEqual([*deb.NAMES], self.asked_of_apt('(none)'))

    def test_a_version_without_topics(self):
        path = self.package('python3-keystone', '22.0.2', 'python3')
        error = self.assertRaises(
            errors.Error, deb.build, [path], pathlib.Path(self.root / 'out')
        )
        self.assertIn('Keystone 22.0.2, to which the', str(error))
        self.assertIn(self.pin.version, str(error))
        self.assertFalse((self.root / 'out').exists())

    def test_adapted_patches_are_of_topics(self):
        for folder in deb.ADAPTED.iterdir():
            pin = deb.pin_for(folder.name)
            self.use(pin.release)
            names = {topic.path.name for topic in self.topics()}
            self.assertLessEqual(
                {path.name for path in folder.iterdir()}, names
            )
