# SPDX-License-Identifier: Apache-2.0

import json
import pathlib

import fixtures
import testtools

from patchset import environment
from patchset import git
from patchset import paths
from patchset import pins
from patchset.test_parts import docs

_NOTE = 'releasenotes/notes/one-0123456789abcdef.yaml'


class DocsTestCase(testtools.TestCase):
    """The checks, on a repository that holds one page and one note."""

    def setUp(self):
        super().setUp()
        self.folder = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        self.root = self.folder / 'repository'
        for source in ('doc/source', 'releasenotes/source'):
            self.put(f'{source}/conf.py', "extensions = ['reno.sphinxext']\n")
            self.put(
                f'{source}/index.rst', 'Title\n=====\n\n.. release-notes::\n'
            )
        self.put(_NOTE, '---\nfixes:\n  - |\n    Mended.\n')
        git.git(self.root, 'init', '--quiet')
        self.commit()

    def put(self, name, text):
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def commit(self):
        git.git(self.root, 'add', '--all')
        git.commit(self.root, 'More\n')

    def findings(self, root):
        where = environment.Environment(pins.newest(), 'docs').ensure()
        plan = docs.plan(where.bin, root, self.folder / 'output')
        return {name: check() for name, check in plan.items()}

    def page(self):
        return (self.folder / 'output/releasenotes/index.html').read_text()

    def test_good(self):
        with docs.history(self.root) as root:
            self.assertEqual(self.root, root)
            found = self.findings(root)
        self.assertEqual(
            {'html': '', 'releasenotes lint': '', 'releasenotes': ''}, found
        )
        self.assertIn('Mended.', self.page())

    def test_a_warning_fails_each_time(self):
        self.put('doc/source/index.rst', 'Title\n=====\n\n:ref:`nowhere`\n')
        for _ in range(2):
            self.assertIn('nowhere', self.findings(self.root)['html'])

    def test_a_bad_note_fails(self):
        self.put(_NOTE, '---\nfixed:\n  - |\n    Mended.\n')
        self.commit()
        self.assertIn('fixed', self.findings(self.root)['releasenotes lint'])

    def test_a_shallow_clone_has_its_notes(self):
        self.put('more', '')
        self.commit()
        clone = self.folder / 'clone'
        git.git(
            self.folder, 'clone', '--quiet', '--depth=1',
            self.root.as_uri(), clone,
        )  # fmt: skip
        with docs.history(clone) as root:
            found = self.findings(root)
        self.assertEqual([''] * 3, list(found.values()))
        self.assertIn('Mended.', self.page())


class FiguresTestCase(testtools.TestCase):
    """What the capacity page says of a result is what the result says."""

    def points(self, name):
        folder = paths.ROOT / 'doc/source/reference/results'
        return json.loads((folder / f'{name}.json').read_text())['points']

    def test_capacity(self):
        page = (paths.ROOT / 'doc/source/admin/capacity.rst').read_text()
        rates = [
            point[side]['rate']
            for point in self.points('services')
            if point['load'] == 'all services'
            and point['case'] in ('services', 'nodes')
            for side in ('stock', 'patched')
        ]
        rates += [
            point['patched']['rate']
            for point in self.points('living')
            if point['case'] in ('grants', 'users', 'projects')
            and point['pace'] in ('quiet', '5/s')
        ]
        self.assertEqual(10, len(rates))
        for rate in rates:
            self.assertIn(f' {rate:,.0f}', page.replace('\n', ' '))
