# SPDX-License-Identifier: Apache-2.0

from patchset import environment
from patchset import git
from patchset import pins
from patchset import upstream
from patchset.test_parts import lint
from patchset.test_parts import sources
from patchset.tests.unit import base

_LICENCE = f'{lint.LICENCE}\n'
_SH = f'#!/bin/sh\n{_LICENCE}'

# What each check has to refuse.
_BAD = {
    'ruff check': ('tool.py', f'{_LICENCE}import os\n'),
    'ruff format': ('tool.py', f'{_LICENCE}a  = 1\n'),
    'overlay: ruff check': ('keystone/new.py', f'{_LICENCE}import os\n'),
    'overlay: ruff format': ('keystone/new.py', f'{_LICENCE}a  = 1\n'),
    'overlay: hacking': (
        'keystone/new.py',
        f'{_LICENCE}import os\nimport abc\n\nprint(os, abc)\n',
    ),
    'shellcheck': ('tool.sh', f'{_SH}rm $1\n'),
    'bashate': ('tool.sh', f'{_SH}if [ -n "$1" ]\nthen\n    exit\nfi\n'),
    'doc8': ('page.rst', 'Title\n====\n'),
    'licence': ('tool.py', 'a = 1\n'),
    'whitespace': ('notes.yaml', 'a: 1 \n'),
}


class LintTestCase(base.RepositoryTestCase):
    def setUp(self):
        super().setUp()
        self.programs = (
            environment.Environment(self.pin.release, 'lint').ensure().bin
        )
        git.git(self.root, 'init', '--quiet')

    def findings(self):
        """What the checks of the copy find, by name."""
        files = sources.files(self.root)
        plan = lint.plan(files, self.programs, self.source, self.root)
        return {name: check() for name, check in plan.items()}

    def test_each_check_refuses_something(self):
        for name, (file, text) in _BAD.items():
            path = self.root / file
            path.write_text(text)
            plan = lint.plan([path], self.programs, self.source, self.root)
            found = {name: check() for name, check in plan.items()}
            self.assertIn(path.name, found[name], name)
            path.unlink()

    def test_no_check_without_a_file(self):
        self.assertEqual(
            {}, lint.plan([], self.programs, self.source, self.root)
        )
        text = self.root / 'page.rst'
        text.write_text('Text\n')
        plan = lint.plan([text], self.programs, self.source, self.root)
        self.assertEqual(['doc8', 'whitespace'], list(plan))

    def test_each_patch_is_a_check(self):
        patch = self.series.parent / 'spoilt.patch'
        patch.write_text('spoilt')
        name = str(patch.relative_to(self.root))
        self.assertIn('newline', self.findings()[name])


# What each check of upstream has to refuse, in a module.
_NEW = {
    'upstream: ruff check': 'a = list([])\n',
    'upstream: ruff format': 'a  = 1\n',
    'upstream: hacking': 'import os\nimport abc\n\nprint(os, abc)\n',
    'upstream: bandit': 'import pickle\n',
    'upstream: mypy': "a: int = 'a'\n",
}


class HooksTestCase(base.RepositoryTestCase):
    def setUp(self):
        super().setUp()
        newest = pins.load(pins.newest())
        programs = environment.Environment(newest.release, 'lint').ensure().bin
        rules = upstream.ensure(newest)
        self.tree = self.root / 'tree'
        for name in (
            'pyproject.toml', 'ruff.toml', 'tox.ini',
            'keystone/tests/hacking/checks.py',
        ):  # fmt: skip
            (self.tree / name).parent.mkdir(parents=True, exist_ok=True)
            (self.tree / name).write_bytes((rules / name).read_bytes())
        self.module = self.tree / 'keystone' / 'new.py'
        self.module.touch()
        self.hooks = lint.hooks(programs, self.tree)

    def test_findings(self):
        self.assertEqual(_NEW.keys(), self.hooks.keys())
        for name, text in _NEW.items():
            self.module.write_text('a = 1\n')
            self.assertEqual('', self.hooks[name](), name)
            self.module.write_text(text)
            self.assertIn('keystone/new.py', self.hooks[name](), name)
