# SPDX-License-Identifier: Apache-2.0

import pathlib

import fixtures
import testtools

from patchset import git
from patchset.test_parts import sources


class SourcesTestCase(testtools.TestCase):
    def setUp(self):
        super().setUp()
        self.root = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        git.git(self.root, 'init', '--quiet')

    def put(self, name, text=''):
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    def test_new_files_count_and_ignored_ones_do_not(self):
        tracked = self.put('tracked.py')
        git.git(self.root, 'add', 'tracked.py')
        new = self.put('ä/new.py')
        ignored = self.put('.gitignore', 'build/\n')
        self.put('build/made.py')
        self.assertEqual([ignored, tracked, new], sources.files(self.root))

    def test_deleted_files_do_not_count(self):
        self.put('gone.py')
        git.git(self.root, 'add', 'gone.py')
        (self.root / 'gone.py').unlink()
        self.assertEqual([], sources.files(self.root))

    def test_kinds(self):
        module = self.put('a/b.py')
        script = self.put('ks', '#!/usr/bin/env python3\n')
        shell = self.put('a/b.sh')
        gate = self.put('.ci/run', '#!/bin/bash\n')
        sourced = self.put('devstack/settings')
        self.put('data', 'python\n')
        self.put('devstack/README.rst')
        self.put('empty')
        found = sources.files(self.root)
        self.assertEqual([module, script], sources.python(found))
        self.assertEqual(
            [gate, shell, sourced], sources.shell(found, self.root)
        )
